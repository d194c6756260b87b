"""What became of each prompt of a run."""
