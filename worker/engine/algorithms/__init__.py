"""Algorithms: the loss of each unit of a micro-batch, and which denoising steps are trained. Pure functions."""
