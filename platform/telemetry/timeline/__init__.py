"""Spans of lanes, and where their time goes."""
