"""What projects may spend, and have spent."""

from decimal import Decimal
from typing import Any

from rest_framework import serializers

from api.serializers.answers import Answer
from api.serializers.bounded import Number
from fleet.models import BudgetPeriod, BudgetUnit, WhenSpent
from fleet.shares.spending import MAX_AMOUNT

UNIT_HELP = "`cost` in the currency of the GPUs' prices, by which GPUs without a price cost nothing; or `gpu_hours`."
PERIOD_HELP = "A calendar `month` of UTC, or the `whole` time since it was set."
WHEN_SPENT_HELP = (
    "`warn`: everything goes on; `hold`: no further run begins; `stop`: running ones save and wait as well."
)


class Budget(Answer):
    """What a project may spend in the present period, and has spent."""

    project_id = serializers.UUIDField(source="budget.project_id")
    project_name = serializers.CharField(source="budget.project.name")
    amount = serializers.DecimalField(source="budget.amount", max_digits=14, decimal_places=4)
    unit = serializers.ChoiceField(source="budget.unit", choices=BudgetUnit.choices, help_text=UNIT_HELP)
    period = serializers.ChoiceField(source="budget.period", choices=BudgetPeriod.choices, help_text=PERIOD_HELP)
    warn_at = serializers.FloatField(source="budget.warn_at", help_text="Share of the amount that is warned of.")
    when_spent = serializers.ChoiceField(
        source="budget.when_spent", choices=WhenSpent.choices, help_text=WHEN_SPENT_HELP
    )
    spent = serializers.DecimalField(max_digits=20, decimal_places=4)
    is_near = serializers.BooleanField(help_text="Whether the share is reached that is warned of.")
    is_spent = serializers.BooleanField()
    begins_at = serializers.DateTimeField(help_text="From when on use counts in the present period.")
    ends_at = serializers.DateTimeField(allow_null=True, help_text="When it begins anew; null for never.")


class BudgetToSet(serializers.Serializer[Any]):
    amount = serializers.DecimalField(max_digits=14, decimal_places=4, min_value=Decimal(0), max_value=MAX_AMOUNT)
    unit = serializers.ChoiceField(choices=BudgetUnit.choices, help_text=UNIT_HELP)
    period = serializers.ChoiceField(
        choices=BudgetPeriod.choices, default=BudgetPeriod.MONTH.value, help_text=PERIOD_HELP
    )
    warn_at = Number(default=0.8, min_value=0, max_value=1, help_text="Share of the amount that is warned of.")
    when_spent = serializers.ChoiceField(
        choices=WhenSpent.choices, default=WhenSpent.HOLD.value, help_text=WHEN_SPENT_HELP
    )
