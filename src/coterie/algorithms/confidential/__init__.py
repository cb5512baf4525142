"""Groups that guard confidential columns: l-diversity and t-closeness by construction."""
