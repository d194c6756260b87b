"""Changes of a run's lanes while it works."""
