"""Microaggregation as set partitioning, by column generation: every group of k to 2k - 1 records is a column.

`master` solves the linear program over the groups at hand, `pricing` finds groups that could lower its value,
`subset_row_cuts` inequalities that its fractional solutions violate, and `lagrangian` says what its prices prove. Of
large tables, `windowed_bound` learns prices window by window. `diving` makes a partition of fractions, `dive_schedule`
does so again and again in `neighbourhoods`, and `branching` closes the gap that is left, in each of the `components`
into which it falls.
"""
