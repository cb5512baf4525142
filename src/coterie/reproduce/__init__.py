"""The tables of the five papers, recomputed: published.csv holds their numbers, and how exactly ours must meet them.

exact: to the printed digit. close: within 1 % (ties, or a detail that the paper leaves open). variant: the paper ran
another variant; both are shown. simulated: the published number must lie in the range of our draws. randomized: in the
range of repeated runs. unpublished: the paper neither prints nor defines its data.
"""
