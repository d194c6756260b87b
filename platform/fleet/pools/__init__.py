"""Pools by label, and which lane is in which."""
