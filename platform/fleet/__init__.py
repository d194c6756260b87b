"""Nodes and lanes: allocates lanes to runs and releases them. Contains no run logic."""
