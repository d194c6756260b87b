"""Runs on the web side: their rows, transitions and attempts, and the drivers of these on the cluster."""
