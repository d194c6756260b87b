"""Decides which lane of a run does what next, predicts how long that takes, and plans how to use a pool of lanes.

Pure Python: no torch, no Ray, no Django, no I/O and no clock of its own.
"""
