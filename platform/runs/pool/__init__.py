"""The pool as its users see it: nodes, GPUs, shares, usage, and the jobs that keep it."""
