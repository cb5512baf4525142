"""Microaggregation as set partitioning, by column generation: every group of k to 2k - 1 records is a column.

`master` solves the linear program over the groups at hand, `pricing` finds groups that could lower its value, `cuts`
inequalities that its fractional solutions violate, and `bound` says what its prices prove. `diving` makes a partition
of fractions, `dives` does so again and again in `neighbourhoods`, and `branching` closes the gap that is left, in each
of the `components` into which it falls.
"""
