"""The minimum weight [1,2]-factor behind 2-mu-approx: its linear program, odd sets, prices and proof."""
