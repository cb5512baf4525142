"""From columns to groups that keep a recipe's promises, and to the values that are released."""
