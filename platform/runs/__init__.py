"""A run's life on the web side: its row, its transitions, its attempts, its driver on the cluster."""
