"""A whole run on a virtual clock: the real scheduler, and lanes that only take time."""
