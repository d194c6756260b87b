"""Algorithms: what a replayed pair contributes to the loss. Pure functions of tensors; one file each."""
