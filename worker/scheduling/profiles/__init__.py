"""Priors: what devices, models and scorers are expected to do, each number with its source."""
