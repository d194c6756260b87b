"""Which runs are lent idle lanes, and how many. See the docstrings of `forecast`, `worth` and `sharing`."""
