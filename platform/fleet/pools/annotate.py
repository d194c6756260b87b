"""What pool admins write about nodes and GPUs: labels, by which lanes are in pools, notes, price."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.access import Actor, require_pool_admin
from audit.record import record
from fleet.models import Gpu, Lane, Node
from fleet.pools.pool_membership import assign_pools, lock_membership

MAX_LABELS = 32
MAX_LABEL_CHARS = 63
"""As Kubernetes has for names and values of labels, from which such labels often come."""
MAX_NOTES_CHARS = 4000
MAX_PRICE = Decimal(100_000)
"""An hour of no GPU costs more in any currency that is reckoned without exponents."""
_LABEL = re.compile(r"^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$")


@transaction.atomic
def annotate(
    *,
    user: Actor,
    on: Node | Gpu,
    labels: Mapping[str, str] | None = None,
    notes: str | None = None,
    price_per_gpu_hour: Decimal | None = None,
    without_price: bool = False,
) -> None:
    """Write what is given and leave the rest; `without_price` removes the price. `on` is refreshed.

    Raises `PermissionDenied`, `ValidationError` by field.
    """
    admin = require_pool_admin(user)
    changes: dict[str, Any] = {}
    if labels is not None:
        changes["labels"] = checked_labels(labels)
    if notes is not None:
        changes["notes"] = _checked_notes(notes)
    if price_per_gpu_hour is not None or without_price:
        changes["price_per_gpu_hour"] = None if without_price else _checked_price(price_per_gpu_hour)
    if changes:
        if labels is not None:
            lock_membership()
        type(on).objects.filter(pk=on.pk).update(**changes)
        on.refresh_from_db()
        if labels is not None:
            assign_pools(Lane.objects.filter(node=on) if isinstance(on, Node) else Lane.objects.filter(gpus=on))
        said: dict[str, Any] = {**changes}
        if "price_per_gpu_hour" in said:
            said["price_per_gpu_hour"] = str(said["price_per_gpu_hour"])
        record(f"{type(on).__name__.lower()}.annotate", on, user=admin, **said)


def checked_labels(labels: Mapping[str, str], field: str = "labels") -> dict[str, str]:
    """The labels, as names and values that can be written. Raises `ValidationError` for `field`."""
    if len(labels) > MAX_LABELS:
        raise ValidationError({field: f"`{field}` must be ≤ {MAX_LABELS}, got {len(labels)}: keep the useful ones"})
    for name, value in labels.items():
        for text in (name, value):
            if len(text) > MAX_LABEL_CHARS or (text and not _LABEL.fullmatch(text)) or not name:
                raise ValidationError(
                    {
                        field: f"`{name[:80]}: {value[:80]}` must have names and values of letters, digits, `.`, "
                        f"`_`, `/` and `-`, at most {MAX_LABEL_CHARS}, with a letter or digit at both ends"
                    }
                )
    return dict(labels)


def _checked_notes(notes: str) -> str:
    if len(notes) > MAX_NOTES_CHARS or "\0" in notes:
        raise ValidationError(
            {"notes": f"`notes` must be text of ≤ {MAX_NOTES_CHARS} characters, got {len(notes)}: shorten them"}
        )
    return notes


def _checked_price(price: Decimal | None) -> Decimal:
    if price is None or not price.is_finite() or not 0 <= price <= MAX_PRICE:
        raise ValidationError(
            {"price_per_gpu_hour": f"`price_per_gpu_hour` must lie between 0 and {MAX_PRICE}, got {price}"}
        )
    return price
