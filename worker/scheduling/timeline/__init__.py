"""Spans that tile the life of each lane, and where its seconds went."""
