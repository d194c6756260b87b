"""No field of a request is unbounded, and no value at any place of a body makes the server fail."""

import importlib
import json
import pkgutil
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rest_framework import serializers
from rest_framework.test import APIClient

import api.serializers
from accounts.models import Project
from api.serializers.answers import Answer
from api.serializers.bounded import Labels, Moment, Number
from api.serializers.catalog import PromptItem
from api.serializers.runs import SpecDocument
from api.serializers.sweeps import SweepDocument
from fleet.lane_layout import ensure_local_lanes
from runs.models import Run
from tests.contracts.test_bounds import EXTREMES

BOUNDED_ELSEWHERE = (
    SpecDocument,
    SweepDocument,
    PromptItem,
    Labels,
    Moment,
    serializers.UUIDField,
    serializers.BooleanField,
    serializers.ChoiceField,
)
"""By the contract, by their own classes, or by their form."""


def requests_() -> Iterator[type[serializers.Serializer[Any]]]:
    """Every serializer of a body or of query parameters."""
    for module in pkgutil.iter_modules(api.serializers.__path__, "api.serializers."):
        for kind in vars(importlib.import_module(module.name)).values():
            is_serializer = isinstance(kind, type) and issubclass(kind, serializers.Serializer)
            if is_serializer and kind.__module__ == module.name and not issubclass(kind, Answer):
                yield kind


def unbounded(field: Any, path: str) -> Iterator[str]:
    if isinstance(field, BOUNDED_ELSEWHERE):
        return
    match field:
        case serializers.ListSerializer() | serializers.ListField():
            if field.max_length is None:
                yield f"{path} has no max_length"
            yield from unbounded(field.child, f"{path}.*")
        case serializers.Serializer():
            for name, inner in field.fields.items():
                yield from unbounded(inner, f"{path}.{name}")
        case serializers.CharField():
            if field.max_length is None:
                yield f"{path} has no max_length"
        case serializers.IntegerField() | serializers.DecimalField() | Number():
            yield from (f"{path} has no {name}" for name in ("min_value", "max_value") if getattr(field, name) is None)
        case _:
            yield f"{path} is a {type(field).__name__}, whose values are not bounded"


def test_no_field_of_a_request_is_unbounded() -> None:
    kinds = list(requests_())
    assert len(kinds) > 40
    assert [place for kind in kinds for place in unbounded(kind(), kind.__name__)] == []


def test_the_walk_finds_what_has_no_bound() -> None:
    class Open(serializers.Serializer[Any]):
        text = serializers.CharField()
        number = serializers.IntegerField(min_value=1)
        share = serializers.FloatField(min_value=0, max_value=1)

    assert list(unbounded(Open(), "x")) == [
        "x.text has no max_length",
        "x.number has no max_value",
        "x.share is a FloatField, whose values are not bounded",
    ]


SPEC: dict[str, Any] = {
    "prompts": {"inline": ["a red square", "a blue circle"]},
    "rewards": [{"name": "shape_match"}],
    "batch": {"num_prompts_per_batch": 2, "group_size": 4},
    "seed": 1,
}
"""With a few settings of each kind; `tests/contracts/test_bounds.py` goes through all of them."""

SWEEP: dict[str, Any] = {
    "name": "x",
    "spec": SPEC,
    "space": {"optimizer.learning_rate": {"kind": "log_uniform", "low": 1e-5, "high": 1e-4}},
    "sampler": {"kind": "random", "num_points": 2, "seed": 0},
    "budget_gpu_hours": 1.5,
}

Post = tuple[str, str, dict[str, Any]]


def bodies(run: Run, project: Project) -> list[Post]:
    """Addresses that take a body, each with one that could be meant."""
    mine, runs = str(project.pk), f"/api/v1/runs/{run.pk}"
    return [
        ("post", "/api/v1/runs:validate", {"spec": SPEC, "project": mine}),
        ("post", "/api/v1/runs:validate", {"yaml": "prompts: {inline: [a]}", "project": mine}),
        (
            "post",
            "/api/v1/runs",
            {"project": mine, "name": "x", "spec": SPEC, "notes": "", "tags": ["a"], "parent": None},
        ),
        ("post", "/api/v1/plans", {"spec": SPEC}),
        ("post", "/api/v1/sweeps:preview", {"project": mine, "sweep": SWEEP}),
        ("patch", runs, {"name": "x", "notes": "y", "tags": ["a"], "archived": False, "priority": "low"}),
        ("post", f"{runs}/duplicate", {"name": "x", "spec": SPEC}),
        ("post", f"{runs}/actions", {"action": "sample_now", "prompts": ["x"]}),
        ("post", f"{runs}/resize", {"add": [{"role": "rollout", "number": 1, "device": "cpu"}], "release": ["a"]}),
        ("post", f"{runs}/resize", {"change": [{"lane": "rollout-0", "role": "trainer"}]}),
        ("post", f"{runs}/queue-place", {"direction": "front", "reason": "x"}),
        ("post", f"{runs}/alternatives", {"num_rollout": 1, "num_trainer": 1, "num_reward": 1, "pool": "default"}),
        ("post", f"{runs}/previews", {"prompts": ["x"], "num_samples": 1, "seed": 0}),
        ("post", "/api/v1/tokens", {"name": "x", "expires_in_days": 3}),
        ("post", "/api/v1/projects", {"name": "x"}),
        ("patch", f"/api/v1/projects/{mine}", {"name": "x"}),
        ("post", f"/api/v1/projects/{mine}/members", {"username": "bob", "role": "viewer"}),
        ("post", "/api/v1/prompt-sets", {"project": mine, "name": "x", "prompts": ["a", {"text": "b"}]}),
        ("post", "/api/v1/secrets", {"project": mine, "name": "x", "host": "h", "value": "v"}),
        ("post", "/api/v1/pools", {"name": "x", "match_labels": {"a": "b"}, "order": 3, "description": ""}),
        ("post", "/api/v1/pools:preview", {"nodes": [{"id": 1, "labels": {}}], "gpus": [], "pool": None}),
        ("post", "/api/v1/queue:preview", {"pool": "default", "shares": [{"project": mine, "weight": 1.0}]}),
        ("put", f"/api/v1/shares/{mine}", {"guaranteed_lanes": 0, "max_lanes": None, "weight": 1.0}),
        ("put", "/api/v1/pool-policy", {"half_life_hours": 1.0, "reclaim_seconds": 1.0, "idle_release_minutes": 60}),
        ("put", f"/api/v1/budgets/{mine}", {"amount": "10", "unit": "cost", "period": "month", "warn_at": 0.5}),
        ("post", "/api/v1/pool/actions", {"action": "cordon", "reason": "x", "until": None, "nodes": [1], "lanes": []}),
        ("post", "/api/v1/gpus:test", {"gpus": [1], "reason": "x"}),
        (
            "patch",
            "/api/v1/nodes/1",
            {"labels": {"a": "b"}, "notes": "", "price_per_gpu_hour": "1", "gpus_per_lane": 1},
        ),
    ]


def damaged(body: Any, values: list[Any]) -> Iterator[Any]:
    """The body with each of `values` in place of each of its parts, and of itself."""
    yield from values
    inner = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for key, value in inner:
        for changed in damaged(value, values):
            copy = dict(body) if isinstance(body, dict) else list(body)
            copy[key] = changed
            yield copy


DRFS_OWN = re.compile(r"Ensure this|This field|Input should|Value error|NoneType|[Nn]ot a valid|A valid|Expected a")


def problem_of(client: APIClient, method: str, path: str, body: Any) -> str:
    """What is wrong with the answer: a failure of the server, or a refusal in words that are not ours; else empty."""
    try:
        # Escaped, as browsers send it: the test client's own renderer refuses half of a surrogate pair.
        response = getattr(client, method)(path, json.dumps(body), content_type="application/json")
    except Exception as error:
        return f"{path} with {str(body)[:200]} failed: {error!r}"
    if response.status_code == 400:
        said = str(response.json().get("errors", response.json()["detail"]))
        if response.headers["Content-Type"] != "application/problem+json" or DRFS_OWN.search(said):
            return f"{path} with {str(body)[:200]} said {said}"
    return ""


FEW = [10**12, -1, "a\0b", None, {"x": 1}]
"""One of each kind; all of them take minutes."""
MANY = [*(value for value in EXTREMES if not (isinstance(value, float) and value - value != 0)), 1e400]
"""All extremes that JSON has."""


@pytest.mark.django_db
@pytest.mark.parametrize("values", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"])
def test_no_value_at_any_place_of_a_body_makes_the_server_fail(
    pool_admin: APIClient, api: APIClient, make_run: Callable[..., Run], project: Project, values: list[Any]
) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    run = make_run()
    problems: list[str] = []
    for method, path, body in bodies(run, project):
        client = pool_admin if path.startswith(("/api/v1/po", "/api/v1/n", "/api/v1/g", "/api/v1/s")) else api
        problems += filter(None, (problem_of(client, method, path, changed) for changed in damaged(body, values)))
    assert problems == []
