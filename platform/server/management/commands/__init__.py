"""`up` and `demo`."""
