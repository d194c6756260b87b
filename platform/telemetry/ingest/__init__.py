"""The HTTP that drivers and node agents post to."""
