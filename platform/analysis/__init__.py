"""Conclusions from a run's whole record: its report as one file, and its schedule under other settings.

It reads runs, telemetry and gallery and writes nothing; callers get the run from `runs.selectors` first, which checks
permission.
"""
