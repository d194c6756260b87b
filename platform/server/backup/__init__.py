"""Backups of an installation: its database and the artifacts that it refers to, taken while it serves."""
