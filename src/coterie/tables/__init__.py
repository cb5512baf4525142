"""Any table in, the same kind of table out: frames, columns, kinds, Arrow helpers."""
