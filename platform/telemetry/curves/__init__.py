"""Metrics over batches, and their rollups."""
