"""The websockets of runs, of the list, and of the pool."""
