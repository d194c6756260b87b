"""What runs produced: samples, adapters, records of checkpoints, the bytes of artifacts, and previews."""
