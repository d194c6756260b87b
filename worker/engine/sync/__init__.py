"""Publishing: weights on their way from the trainer ranks to the rollout lanes, with checksums at both ends."""
