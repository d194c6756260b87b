"""Readers of a node's GPUs: by NVIDIA's and AMD's libraries, and from a recorded trace."""
