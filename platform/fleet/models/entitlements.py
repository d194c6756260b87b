"""What projects may have of each pool, and how fast use is forgiven there."""

from django.core.validators import MinValueValidator
from django.db import models

from accounts.models import Project
from fleet.fair_share import DEFAULT_HALF_LIFE_HOURS
from fleet.models.pools import Pool

DEFAULT_RECLAIM_SECONDS = 30.0
"""A fragment of an image model takes seconds to half a minute on a lane (`worker.scheduling.profiles`), so most lanes
come back without dropping anything, and who is entitled to them waits no longer than for a run's start."""


class ProjectShare(models.Model):
    """A project's part of a pool, in lanes of the kind that generates and trains there. Without a row the project has
    the default share of the pool: no guarantee, no limit, weight 1."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="shares")
    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="shares")
    guaranteed_lanes = models.PositiveIntegerField(default=0)
    max_lanes = models.PositiveIntegerField(null=True)
    """The most lanes that it may hold; null for no limit, 0 where it may hold none."""
    weight = models.FloatField(default=1.0, validators=[MinValueValidator(0.0)])

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "pool"], name="one_share_per_project_and_pool"),
            models.CheckConstraint(name="share_weight_not_negative", condition=models.Q(weight__gte=0)),
            models.CheckConstraint(
                name="share_limit_holds_guarantee",
                condition=models.Q(max_lanes=None) | models.Q(max_lanes__gte=models.F("guaranteed_lanes")),
            ),
        ]

    def __str__(self) -> str:
        return f"share of {self.project} in {self.pool_id}"


class PoolPolicy(models.Model):
    """The settings of a pool; without a row the defaults hold."""

    pool = models.OneToOneField(Pool, primary_key=True, on_delete=models.CASCADE, related_name="policy")
    half_life_hours = models.FloatField(default=DEFAULT_HALF_LIFE_HOURS)
    """After which use counts half in fair share."""
    reclaim_seconds = models.FloatField(default=DEFAULT_RECLAIM_SECONDS)
    """Seconds in which a lane that is asked back may finish its fragment; then the fragment is dropped."""
    idle_warning_minutes = models.PositiveIntegerField(default=30)
    """For how long a GPU that a run holds may do nothing before it is warned of: longer than loading the largest models
    and than an evaluation that other lanes do."""
    idle_release_minutes = models.PositiveIntegerField(null=True)
    """After how long it is taken from the run; null for never."""

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="idle_release_after_warning",
                condition=models.Q(idle_release_minutes=None)
                | models.Q(idle_release_minutes__gt=models.F("idle_warning_minutes")),
            ),
            models.CheckConstraint(name="half_life_positive", condition=models.Q(half_life_hours__gt=0)),
            models.CheckConstraint(name="reclaim_not_negative", condition=models.Q(reclaim_seconds__gte=0)),
        ]

    def __str__(self) -> str:
        return f"policy of {self.pool_id}"
