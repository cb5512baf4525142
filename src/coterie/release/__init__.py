"""From a file to a checked release: protect, the bundle, and what custodians do before and after."""
