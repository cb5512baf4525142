"""Microaggregation as set partitioning, by column generation: every group of k to 2k - 1 records is a column.

`master` solves the linear program over the groups at hand, `pricing` finds groups that could lower its value, `cuts`
inequalities that its fractional solutions violate, `bound` says what its prices prove, and `branching` closes the gap
that is left.
"""
