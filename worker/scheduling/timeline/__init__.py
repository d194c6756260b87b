"""Spans that tile the lifetime of each lane, and the sums of its seconds by what they were spent on."""
