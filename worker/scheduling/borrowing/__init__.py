"""Which runs are lent idle lanes, and how many. See the docstrings of `lane_forecast`, `worth` and `sharing`."""
