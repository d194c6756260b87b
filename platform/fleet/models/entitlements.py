"""What projects may have of the pool, and how fast use is forgiven."""

from django.core.validators import MinValueValidator
from django.db import models

from accounts.models import Project
from fleet.fair_share import DEFAULT_HALF_LIFE_HOURS


class ProjectShare(models.Model):
    """A project's part of the pool, in lanes of the kind that generates and trains. A project without a row has the
    default share: no guarantee, no limit, weight 1."""

    project = models.OneToOneField(Project, primary_key=True, on_delete=models.CASCADE, related_name="share")
    guaranteed_lanes = models.PositiveIntegerField(default=0)
    max_lanes = models.PositiveIntegerField(null=True)
    """The most lanes that it may hold; null for no limit."""
    weight = models.FloatField(default=1.0, validators=[MinValueValidator(0.0)])

    class Meta:
        constraints = [
            models.CheckConstraint(name="share_weight_not_negative", condition=models.Q(weight__gte=0)),
            models.CheckConstraint(
                name="share_limit_holds_guarantee",
                condition=models.Q(max_lanes=None) | models.Q(max_lanes__gte=models.F("guaranteed_lanes")),
            ),
        ]

    def __str__(self) -> str:
        return f"share of {self.project}"


class PoolPolicy(models.Model):
    """The one row of settings that hold for the whole pool; without it the defaults do."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    half_life_hours = models.FloatField(default=DEFAULT_HALF_LIFE_HOURS)
    """After which use counts half in fair share."""
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
            models.CheckConstraint(name="one_pool_policy", condition=models.Q(id=1)),
            models.CheckConstraint(name="half_life_positive", condition=models.Q(half_life_hours__gt=0)),
        ]

    def __str__(self) -> str:
        return "pool policy"
