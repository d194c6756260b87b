"""A run's recorded work under other settings, with the error of a replay under its own."""
