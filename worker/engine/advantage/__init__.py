"""Advantages: how much better a trajectory did than its siblings."""
