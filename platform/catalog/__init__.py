"""What a run can be made of: base models, prompt sets, presets."""
