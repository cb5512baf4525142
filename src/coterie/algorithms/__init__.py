"""The methods: one file a family, one line each in `registry.py`. (`coterie.methods()` lists them.)"""
