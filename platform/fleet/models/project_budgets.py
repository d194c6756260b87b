"""What projects may spend."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from accounts.models import Project


class BudgetUnit(models.TextChoices):
    COST = "cost"
    """In the currency of the GPUs' prices; a GPU without a price costs nothing."""
    GPU_HOURS = "gpu_hours"


class BudgetPeriod(models.TextChoices):
    MONTH = "month"
    """A calendar month of UTC, after which it begins anew."""
    WHOLE = "whole"
    """Once and for all."""


class WhenSpent(models.TextChoices):
    WARN = "warn"
    """It is said, and everything goes on."""
    HOLD = "hold"
    """Runs that hold lanes go on; none begins."""
    STOP = "stop"
    """Runs that hold lanes save and wait as well."""


class ProjectBudget(models.Model):
    """What a project may spend in every pool together; one without a row may spend anything."""

    project = models.OneToOneField(Project, primary_key=True, on_delete=models.CASCADE, related_name="budget")
    amount = models.DecimalField(max_digits=14, decimal_places=4, validators=[MinValueValidator(0)])
    unit = models.CharField(max_length=10, choices=BudgetUnit.choices)
    period = models.CharField(max_length=10, choices=BudgetPeriod.choices)
    warn_at = models.FloatField(default=0.8, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)])
    """The spent share of it from which on it is warned of."""
    when_spent = models.CharField(max_length=5, choices=WhenSpent.choices, default=WhenSpent.HOLD.value)
    since = models.DateTimeField()
    """From when on use counts."""
    warned_at = models.DateTimeField(null=True)
    """When it was last warned of."""
    spent_at = models.DateTimeField(null=True)
    """When it was last found spent."""

    class Meta:
        constraints = [
            models.CheckConstraint(name="budget_not_negative", condition=models.Q(amount__gte=0)),
            models.CheckConstraint(name="budget_warning_is_share", condition=models.Q(warn_at__gte=0, warn_at__lte=1)),
        ]

    def __str__(self) -> str:
        return f"budget of {self.project}"
