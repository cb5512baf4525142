"""For research: a matrix in, groups and losses out; no recipe, no check of a written file, no report."""
