"""The metrics of training, and the checks on them: the replay gate and the detection of reward hacking."""
