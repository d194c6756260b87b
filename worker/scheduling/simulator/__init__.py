"""Simulation of whole runs on a virtual clock, with the scheduler of a real run."""
