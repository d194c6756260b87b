"""Service states of nodes and GPUs, and their history."""
