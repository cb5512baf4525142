"""From a table to a checked release, and what custodians do before and after. `flow.py` shows the steps.

| what | modules |
|---|---|
| protect | flow; source, memory_limit; solving, writing, spreadsheets; tally, telling |
| what comes out | release, bundle, place |
| before | drafting (a recipe), assess, compare |
| after | checking (verify), replay |
| the old name of protecting large files | protect_file |
"""
