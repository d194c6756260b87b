"""Settings of retention: for how many days after a run's end each kind of data is kept; 0, the default, is for good."""

from server.environment import env

TANDEM_KEEP_TELEMETRY_DAYS = env.int("TANDEM_KEEP_TELEMETRY_DAYS", 0)
TANDEM_KEEP_SAMPLES_DAYS = env.int("TANDEM_KEEP_SAMPLES_DAYS", 0)
TANDEM_KEEP_LOGS_DAYS = env.int("TANDEM_KEEP_LOGS_DAYS", 0)
TANDEM_KEEP_SCHEDULER_EVENTS_DAYS = env.int("TANDEM_KEEP_SCHEDULER_EVENTS_DAYS", 0)
TANDEM_RETENTION = env.bool("TANDEM_RETENTION", False)
"""Whether the worker deletes every hour what is past its days; else `manage.py retention` alone does."""
