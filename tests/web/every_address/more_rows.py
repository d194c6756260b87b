"""More of everything: copies of every row of the database, but for what may stand there once."""

import uuid
from collections import Counter
from typing import Any

from django.apps import apps
from django.db import IntegrityError, models, transaction

STEP = 1000
"""Between the numbers of copies, so that they never meet those of others."""


def copy_every_row(num_copies: int) -> Counter[str]:
    """Copy each row of each table so often; returns the number of copies by model. What refers to others refers to the
    same ones."""
    made: Counter[str] = Counter()
    for model in apps.get_models():
        for row in list(model._base_manager.all()) if model._meta.managed else ():
            for nth in range(1, num_copies + 1):
                made[model._meta.label] += _copied(model, row, nth)
    return made


def _copied(model: type[models.Model], row: models.Model, nth: int) -> bool:
    own = _telling_apart(model)
    values: dict[str, Any] = {
        field.attname: _varied(field, getattr(row, field.attname), nth, is_own=field.unique or field.name in own)
        for field in model._meta.concrete_fields
        if not field.generated and not isinstance(field, models.AutoField)
    }
    try:
        with transaction.atomic():
            model(**values).save(force_insert=True)
    except IntegrityError:
        return False
    return True


def _telling_apart(model: type[models.Model]) -> set[str]:
    """Of the fields that together are unique, the last of each group that refers to nothing."""
    rules = [rule for rule in model._meta.constraints if isinstance(rule, models.UniqueConstraint)]
    groups = [*(rule.fields for rule in rules), *model._meta.unique_together]
    own = [[name for name in group if not model._meta.get_field(name).is_relation] for group in groups]
    return {names[-1] for names in own if names}


def _varied(field: "models.Field[Any, Any]", value: Any, nth: int, *, is_own: bool) -> Any:
    """Another value for a field that tells rows apart, the same for any other."""
    if not is_own or field.is_relation or value is None:
        return value
    if isinstance(field, models.UUIDField):
        return uuid.uuid4()
    if isinstance(field, models.IntegerField):
        return value + nth * STEP
    return f"{nth}{value}"[: field.max_length] if isinstance(field, models.CharField | models.TextField) else value
