"""Sweeps: many runs that differ in some settings and in their seeds, compared at equal samples.

The rows are in `runs.models`, because a run tells of the sweep that made it; what is decided about them is here.
"""
