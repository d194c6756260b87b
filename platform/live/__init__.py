"""Sends committed changes to open browsers. The lowest web app: it imports no other."""
