"""Base models, prompt sets, presets and secrets, which run specs refer to."""
