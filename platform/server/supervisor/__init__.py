"""Starts the stack's processes and makes sure that none outlives it."""
