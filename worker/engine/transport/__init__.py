"""Trajectories on their way from the lane that generated them to the trainer ranks: each gets its share alone."""
