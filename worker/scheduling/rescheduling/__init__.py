"""A run's recorded work under other settings: what would have happened on other lanes, or with other switches."""
