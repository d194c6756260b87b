"""`Idempotency-Key`: for 24 hours, a repeated POST gets the answer of the first one, at every address that writes.

The key's row is written in the transaction that does the work, so an interrupted request leaves neither, and of two
concurrent requests the second waits at the unique constraint.
"""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api.models import IdempotencyKey
from api.problems import Conflict
from api.request_parsing import user_of

HEADER = "Idempotency-Key"
LIFETIME = timedelta(hours=24)
MAX_KEY_LENGTH = 200

IDEMPOTENCY = OpenApiParameter(
    HEADER, str, OpenApiParameter.HEADER, description="A repeat within 24 hours gets the first answer."
)


def idempotent(request: Request, act: Callable[[], Response], *, keeps_answer: bool = True) -> Response:
    """Run `act` once for each key of a user; repeats get its answer and the header `Idempotent-Replay: true`. Without
    `keeps_answer` the answer holds a secret.

    Raises:
        Conflict: the key was used for another body, or for an answer that is not kept.
        ValidationError: the key is longer than `MAX_KEY_LENGTH`.
    """
    key = request.headers[HEADER]
    if not key:
        return act()
    if len(key) > MAX_KEY_LENGTH:
        raise ValidationError({HEADER: [f"`{HEADER}` must be at most {MAX_KEY_LENGTH} characters, got {len(key)}"]})
    digest, user = _digest(request), user_of(request)
    with transaction.atomic():
        IdempotencyKey.objects.filter(user=user, created_at__lt=timezone.now() - LIFETIME).delete()
        # The insert blocks until a concurrent insert of the same key has committed.
        entry, is_new = IdempotencyKey.objects.get_or_create(
            user=user, key=key, defaults={"request_sha256": digest, "status": 0, "body": None}
        )
        if is_new:
            response = act()
            entry.status, entry.body = response.status_code, response.data if keeps_answer else None
            entry.save(update_fields=["status", "body"])
            return response
    if entry.request_sha256 != digest:
        raise Conflict(f"`{HEADER}` {key!r} was used for another request in the last 24 hours: use a new key")
    if not keeps_answer:
        raise Conflict(f"`{HEADER}` {key!r} was done already, and its answer held a secret, which is not kept")
    return Response(entry.body, status=entry.status, headers={"Idempotent-Replay": "true"})


def _digest(request: Request) -> str:
    content: Any = [request.method, request.path, request.data]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
