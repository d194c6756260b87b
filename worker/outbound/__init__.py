"""Connections to servers that users name: one rule for the web and for the lanes of runs."""
