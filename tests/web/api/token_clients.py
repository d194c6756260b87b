"""Clients that come with a token, and the addresses that write, each with the scope that a token needs for it."""

from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver
from rest_framework.permissions import SAFE_METHODS
from rest_framework.test import APIClient

from accounts.api_tokens import TokenWish, create_token
from accounts.models import TokenScope, User
from api.token_scopes import needed_scope

READ, RUN, POOL, ADMIN = TokenScope.READ, TokenScope.RUN, TokenScope.POOL, TokenScope.ADMIN
LETS_SERVICES_CHECK = "post operations/<str:operation_id>/cancel"
"""What the operation is about says which scope it needs."""
WRITES: dict[str, TokenScope] = {
    "delete budgets/<uuid:project_id>": POOL,
    "delete mirrors/<uuid:pk>": ADMIN,
    "delete nodes/<int:node_id>": POOL,
    "delete pools/<str:name>": POOL,
    "delete projects/<uuid:project_id>/members/<int:user_id>": ADMIN,
    "delete prompt-sets/<uuid:pk>": RUN,
    "delete runs/<uuid:pk>": RUN,
    "delete runs/<uuid:run_id>/queue-place": POOL,
    "delete secrets/<uuid:pk>": ADMIN,
    "delete sweeps/<uuid:pk>": RUN,
    "delete tokens/<str:pk>": ADMIN,
    "patch gpus/<int:gpu_id>": POOL,
    "patch mirrors/<uuid:pk>": ADMIN,
    "patch nodes/<int:node_id>": POOL,
    "patch pools/<str:name>": POOL,
    "patch projects/<uuid:pk>": ADMIN,
    "patch projects/<uuid:project_id>/members/<int:user_id>": ADMIN,
    "patch runs/<uuid:pk>": RUN,
    "patch users/<int:pk>": ADMIN,
    "post gpus/<int:gpu_id>/actions": POOL,
    "post gpus/<int:gpu_id>/tests": POOL,
    "post gpus:test": POOL,
    "post lanes/<int:lane_id>/actions": POOL,
    "post mirrors": ADMIN,
    "post mirrors/<uuid:mirror_id>/try-again": ADMIN,
    "post nodes/<int:node_id>/actions": POOL,
    LETS_SERVICES_CHECK: READ,
    "post plans": READ,
    "post pool/actions": POOL,
    "post pools": POOL,
    "post pools:preview": POOL,
    "post projects": ADMIN,
    "post projects/<uuid:project_id>/members": ADMIN,
    "post prompt-sets": RUN,
    "post queue:preview": POOL,
    "post retention:delete": POOL,
    "post retention:preview": POOL,
    "post runs": RUN,
    "post runs/<uuid:run_id>/actions": RUN,
    "post runs/<uuid:run_id>/alternatives": RUN,
    "post runs/<uuid:run_id>/duplicate": RUN,
    "post runs/<uuid:run_id>/mirrors": RUN,
    "post runs/<uuid:run_id>/previews": RUN,
    "post runs/<uuid:run_id>/queue-place": POOL,
    "post runs/<uuid:run_id>/replays": READ,
    "post runs/<uuid:run_id>/resize": RUN,
    "post run-views": RUN,
    "delete run-views/<uuid:view_id>": RUN,
    "post runs:bulk": RUN,
    "post runs:import": READ,
    "post runs:preflight": READ,
    "post runs:validate": READ,
    "post secrets": ADMIN,
    "post sweeps": RUN,
    "post sweeps/<uuid:sweep_id>/stop": RUN,
    "post sweeps:preview": READ,
    "post tokens": ADMIN,
    "delete service-accounts/<int:account_id>/tokens/<str:token_id>": ADMIN,
    "patch service-accounts/<int:pk>": ADMIN,
    "post service-accounts": ADMIN,
    "post service-accounts/<int:account_id>/tokens": ADMIN,
    "delete users/<int:user_id>/second-factor": ADMIN,
    "delete webhooks/<uuid:pk>": ADMIN,
    "patch webhooks/<uuid:pk>": ADMIN,
    "post webhooks": ADMIN,
    "post webhooks/<uuid:webhook_id>/deliveries/<uuid:delivery_id>/redeliver": ADMIN,
    "post webhooks/<uuid:webhook_id>/rotate-secret": ADMIN,
    "post webhooks/<uuid:webhook_id>/test": ADMIN,
    "put budgets/<uuid:project_id>": POOL,
    "put pool-policy": POOL,
    "put shares/<uuid:project_id>": POOL,
}
"""Every method that writes, or computes for a body, with the scope that a token needs for it."""


def writes(found: list[URLPattern | URLResolver], prefix: str = "") -> Iterator[tuple[str, TokenScope]]:
    for entry in found:
        address = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from writes(entry.url_patterns, address)
            continue
        view: Any = getattr(entry.callback, "cls", None)
        if view is None or not address.startswith("api/v1/"):
            continue
        actions = getattr(entry.callback, "actions", None) or {name: name for name in view.http_method_names}
        for method, handler in actions.items():
            if method.upper() not in SAFE_METHODS and hasattr(view, handler):
                yield f"{method} {address.removeprefix('api/v1/')}", needed_scope(view, method.upper())


def with_token(user: User, **limits: Any) -> APIClient:
    _, token = create_token(user=user, wish=TokenWish(**limits))
    return APIClient(headers={"Authorization": f"Bearer {token}"})


def scopes(*wanted: TokenScope) -> frozenset[TokenScope]:
    return frozenset(wanted)
