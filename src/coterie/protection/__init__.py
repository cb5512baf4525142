"""From records to groups that keep a recipe's promises, and to the values that are released.

| step | modules |
|---|---|
| survey: what must be known of all records | survey, with scales (exact sums), values (what t is held against) |
| plan: into which parts the records go | plan; components (of scenarios), cells, strata, centroids, missing, lending |
| solve: the groups of a part | solve; encoding, category_codes, grouping, guarding, centres, losses, proving |
| assemble: what every record gets | assemble; released_strata, noise |

Nothing here opens a file or knows where a table is.
"""
