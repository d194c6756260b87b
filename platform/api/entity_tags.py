"""`ETag` and `If-Match` (RFC 9110, 8.8.3 and 13.1.1): who changes what another has changed since is told, with 412.

A view that can be read, and changed at the same address, names in `edited` the fields of its body that users change.
Its tag is a digest of those alone: a run's progress and a node's load do not make a change of its notes fail. So a tag
says whether it may be overwritten, not whether the whole answer is still the same.
"""

import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, transaction
from drf_spectacular.utils import OpenApiParameter
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

if TYPE_CHECKING:
    # At run time this module is loaded while the module of views is.
    from rest_framework.response import Response
    from rest_framework.views import APIView

MATCH = "If-Match"
CHANGING = frozenset({"PATCH", "PUT", "DELETE"})
IF_MATCH = OpenApiParameter(
    MATCH,
    str,
    OpenApiParameter.HEADER,
    description="An `ETag`: 412, and nothing is changed, where what users change here has another one by now.",
)


class EntityTags(BasePermission):
    """Not a permission: it stands among them, because DRF asks them after authentication and before it looks up the
    view's handler, which is replaced here."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Always true."""
        edited: tuple[str, ...] = getattr(view, "edited", ())
        if not edited or getattr(view, "action", "") in ("list", "create"):
            return True
        target: Any = view
        method = (request.method or "").lower()
        handler = getattr(target, method, None)
        if handler is None:
            return True  # DRF answers 405.
        if request.method == "GET":
            target.get = _tagged(handler, edited)
        elif request.method in CHANGING:
            setattr(target, method, _conditional(request, handler, target.get, edited))
        return True


def has_tag(view: "APIView") -> bool:
    """Whether this method of the view, as the schema describes it, is of one object that has a tag."""
    return bool(getattr(view, "edited", ())) and getattr(view, "action", "") not in ("list", "create")


Handler = Callable[..., "Response"]


def _tagged(read: Handler, edited: tuple[str, ...]) -> Handler:
    def answer(*args: Any, **kwargs: Any) -> "Response":
        response = read(*args, **kwargs)
        response.headers["ETag"] = _tag(response.data, edited)
        return response

    return answer


def _conditional(request: Request, change: Handler, read: Handler, edited: tuple[str, ...]) -> Handler:
    def answer(*args: Any, **kwargs: Any) -> "Response":
        from api.problems import PreconditionFailed  # Loads DRF's views, which cannot be while settings are read.

        with transaction.atomic():
            _one_at_a_time(request)
            if wanted := request.headers.get(MATCH):
                now = _tag(read(*args, **kwargs).data, edited)
                if wanted != "*" and now not in [tag.strip() for tag in wanted.split(",")]:
                    raise PreconditionFailed(
                        f"this was changed since you read it: its `ETag` is {now} now; read it again, then change it"
                    )
            response = change(*args, **kwargs)
        if request.method != "DELETE":
            response.headers["ETag"] = _tag(response.data, edited)
        return response

    return answer


def _one_at_a_time(request: Request) -> None:
    """Let changes of one address wait for each other, until the transaction ends. The lock is taken before any of a
    row, so that it is part of no circle."""
    address = f"{request.path}?{sorted(request.query_params.items())}"
    key = int.from_bytes(hashlib.sha256(address.encode()).digest()[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [key])


def _tag(body: Any, edited: tuple[str, ...]) -> str:
    values = {name: body[name] for name in edited}
    text = json.dumps(values, sort_keys=True, cls=DjangoJSONEncoder)
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
