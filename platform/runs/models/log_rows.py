"""The log of a run as people read it: what the engine logged and what happened, on one axis."""

from django.db import models

from runs.models.run_rows import Run
from runs.models.stored_ranges import unreadable_rows


class LogLevel(models.TextChoices):
    """Severities, ascending."""

    DEBUG = "debug"
    """What comes with every batch: worth reading when something is looked for."""
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


COMMAND = "command"
"""Type of the entries that tell what was asked of the run, and by whom."""
WEB = "web"
"""Source of the entries that the web adds."""


class RunLogEntry(models.Model):
    """A log record, or an event in a sentence; appended and never changed. It has the number of what it tells."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    stream_seq = models.PositiveBigIntegerField()
    attempt = models.PositiveIntegerField()
    at = models.FloatField(help_text="Unix time in seconds.")
    type = models.CharField(max_length=32)
    """`log` for a record of the engine's log; else the type of the stream item."""
    level = models.CharField(max_length=8, choices=LogLevel.choices)
    source = models.TextField()
    """The lane's id, `driver` or `web`."""
    text = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "stream_seq"], name="log_entry_number_once")]
        indexes = [
            # Errors are shown first and commands are read with the stream; both are few among many.
            models.Index(fields=["run", "stream_seq"], condition=models.Q(level="error"), name="log_errors"),
            models.Index(fields=["run", "stream_seq"], condition=models.Q(type=COMMAND), name="log_commands"),
            unreadable_rows("log_entry", clock=["at"]),
        ]
