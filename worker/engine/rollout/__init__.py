"""Rollout: the denoising kernels, the noise that seeds them, and the engine that draws a fragment of trajectories."""
