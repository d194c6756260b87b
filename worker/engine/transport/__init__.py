"""Transport: trajectories on their way from the lane that generated them to the trainer ranks, each rank's share alone."""
