"""What became of each prompt of a run, of its groups and of their fragments."""
