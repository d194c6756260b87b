"""Configurations of other trainers, turned into documents of a run spec."""
