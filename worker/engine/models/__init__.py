"""Models: what a diffusers pipeline must answer to be trained and sampled here, one adapter per model family."""
