"""Every number that is shown to a person: one definition each, with its source."""
