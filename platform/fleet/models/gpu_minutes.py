"""What GPUs did, minute by minute, for some hours: the short history that a GPU's page draws."""

from django.db import models

from fleet.models.nodes import Gpu


class GpuMinute(models.Model):
    """One minute of one GPU. Appended when it has ended; deleted when `fleet.reports.live_rollups.KEPT` has passed."""

    gpu = models.ForeignKey(Gpu, on_delete=models.CASCADE, related_name="minutes")
    begin = models.DateTimeField()
    num_readings = models.PositiveSmallIntegerField()
    values = models.JSONField()
    """Lowest, mean and highest reading of each quantity that the card offers, in the units of `GpuLive`."""
    throttled = models.JSONField(default=dict)
    """In how many of the readings its clocks were reduced, by reason."""

    class Meta:
        ordering = ["begin"]
        constraints = [models.UniqueConstraint(fields=["gpu", "begin"], name="gpu_minute_once")]
        indexes = [models.Index(fields=["begin"], name="gpu_minute_at")]

    def __str__(self) -> str:
        return f"{self.gpu} at {self.begin:%H:%M}"


class GpuReadings(models.Model):
    """The live values of all GPUs of one post of the node agent; deleted once their minute is summed up."""

    at = models.DateTimeField(db_index=True)
    values = models.JSONField()
    """By the GPU's key: its readings in the order of `fleet.reports.live_rollups.QUANTITIES`, then what reduced its
    clocks."""

    def __str__(self) -> str:
        return f"readings at {self.at:%H:%M:%S}"
