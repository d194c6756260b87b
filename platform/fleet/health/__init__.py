"""Faults, tests, slowness and idleness of GPUs."""
