"""Analyses before and after: tables, means, totals, quantiles, regressions, and what they have in common.

A formula is read here, and no text of it is ever run. Columns come as numbers and codes; libraries that fit models see
no name and no category of the table.
"""
