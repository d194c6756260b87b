"""Starts the stack's processes and ensures that none outlives it."""
