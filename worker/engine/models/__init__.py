"""Models: one adapter for each model family, between a diffusers pipeline and what rollout and training need of it."""
