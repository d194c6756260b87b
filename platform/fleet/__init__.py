"""Nodes and lanes: gives lanes to a run id and takes them back. Knows no run logic."""
