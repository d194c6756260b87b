"""Rollout: the denoising kernels, the noise that seeds them, and the sampler that draws a fragment of trajectories."""
