"""Hours for which lanes were held, summed by the database: the one measure of budgets, of projects and of sweeps."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import DateTimeField, DecimalField, DurationField, ExpressionWrapper, F, Sum, Value
from django.db.models.functions import Cast, Coalesce, Extract, Greatest, Least

_AMOUNT = DecimalField(max_digits=20, decimal_places=6)
GPUS = Coalesce(F("gpus__len"), Value(0))
"""The GPUs of a use's lane; a CPU lane has none, and costs no GPU-hours."""


def held_hours(*, now: datetime, begin: datetime | None = None, rate: Any = GPUS) -> Sum:
    """The sum over uses of a lane of the hours for which it was held, from `begin` on, times `rate`. A lane that is
    held counts until now."""
    until = Least(Coalesce(F("until"), Value(now, DateTimeField())), Value(now, DateTimeField()))
    since = F("since") if begin is None else Greatest(F("since"), Value(begin, DateTimeField()))
    length = ExpressionWrapper(until - since, DurationField())
    hours = Cast(Extract(length, "epoch"), _AMOUNT) / Value(Decimal(3600), _AMOUNT)
    return Sum(ExpressionWrapper(hours * rate, _AMOUNT))
