"""`If-Match`: of two who read the same, the second to change it is told."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from django.urls import get_resolver
from rest_framework.test import APIClient

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Node, Pool
from runs.models import Run
from tests.web.api.token_clients import writes
from tests.web.conftest import MakeRun

UNTAGGED = {
    "delete projects/<uuid:project_id>/members/<int:user_id>": "a member is a role, which a repeat sets again",
    "patch projects/<uuid:project_id>/members/<int:user_id>": "a member is a role, which a repeat sets again",
    "patch users/<int:pk>": "an account has one right, which a repeat sets again",
    "delete prompt-sets/<uuid:pk>": "cannot be changed",
    "delete secrets/<uuid:pk>": "cannot be changed or read",
    "delete sweeps/<uuid:pk>": "an ended sweep cannot be changed",
    "delete tokens/<str:pk>": "cannot be changed",
    "delete service-accounts/<int:account_id>/tokens/<str:token_id>": "cannot be changed",
    "delete users/<int:user_id>/second-factor": "removed as a whole",
    "delete run-views/<uuid:view_id>": "saved anew as a whole",
    "delete runs/<uuid:run_id>/queue-place": "a run's place is where it was moved last",
}
"""Addresses where nothing can be overwritten unseen, and why."""


def views(found: Any, prefix: str = "") -> dict[str, Any]:
    listed: dict[str, Any] = {}
    for entry in found:
        address = prefix + str(entry.pattern)
        if hasattr(entry, "url_patterns"):
            listed |= views(entry.url_patterns, address)
        else:
            listed[address.removeprefix("api/v1/")] = getattr(entry.callback, "cls", None)
    return listed


def test_whatever_can_be_changed_has_a_tag_or_a_reason() -> None:
    by_address = views(get_resolver().url_patterns)
    changing = [name for name, _ in writes(get_resolver().url_patterns) if not name.startswith("post ")]
    untagged = {name for name in changing if not getattr(by_address[name.partition(" ")[2]], "edited", ())}
    assert untagged == set(UNTAGGED)


@pytest.mark.django_db
def test_the_second_of_two_changes_is_refused_with_the_tag_of_now(
    api: APIClient, make_run: MakeRun, project: Project
) -> None:
    run = make_run(project)
    address = f"/api/v1/runs/{run.pk}"
    tag = api.get(address).headers["ETag"]
    first = api.patch(address, {"notes": "mine"}, headers={"If-Match": tag})
    assert first.status_code == 200
    second = api.patch(address, {"notes": "theirs"}, headers={"If-Match": tag})
    assert second.status_code == 412
    assert first.headers["ETag"] in second.json()["detail"]
    assert Run.objects.get(pk=run.pk).notes == "mine"
    assert api.patch(address, {"notes": "theirs"}, headers={"If-Match": first.headers["ETag"]}).status_code == 200


@pytest.mark.django_db
def test_progress_of_a_run_does_not_change_its_tag(api: APIClient, make_run: MakeRun, project: Project) -> None:
    run = make_run(project)
    before = api.get(f"/api/v1/runs/{run.pk}").headers["ETag"]
    Run.objects.filter(pk=run.pk).update(num_batches_done=1, phase="train")
    assert api.get(f"/api/v1/runs/{run.pk}").headers["ETag"] == before


@pytest.mark.django_db
def test_any_of_several_tags_and_the_star_match(api: APIClient, project: Project) -> None:
    address = f"/api/v1/projects/{project.pk}"
    tag = api.get(address).headers["ETag"]
    assert api.patch(address, {"name": "A"}, headers={"If-Match": f'"old", {tag}'}).status_code == 200
    assert api.patch(address, {"name": "B"}, headers={"If-Match": "*"}).status_code == 200
    assert api.patch(address, {"name": "C"}, headers={"If-Match": '"old"'}).status_code == 412


@pytest.mark.django_db
def test_nodes_pools_policies_shares_and_budgets_have_tags_of_their_settings(
    pool_admin: APIClient, project: Project
) -> None:
    ensure_local_lanes(num_cpu_lanes=1)
    Pool.objects.create(name="mine", match_labels={"who": "me"})
    budget = {"amount": "5", "unit": "gpu_hours", "period": "month", "warn_at": 0.5, "when_spent": "warn"}
    share = {"guaranteed_lanes": 1, "max_lanes": None, "weight": 1}
    cases: list[tuple[str, str, dict[str, Any]]] = [
        ("patch", f"nodes/{Node.objects.get().pk}", {"notes": "new"}),
        ("patch", "pools/mine", {"description": "new"}),
        ("put", "pool-policy?pool=mine", {"half_life_hours": 3}),
        ("put", f"shares/{project.pk}?pool=mine", share),
        ("put", f"budgets/{project.pk}", budget),
    ]
    pool_admin.put(f"/api/v1/budgets/{project.pk}", {**budget, "amount": "4"})
    for method, path, body in cases:
        change: Callable[..., Any] = getattr(pool_admin, method)
        tag = pool_admin.get(f"/api/v1/{path}").headers["ETag"]
        changed = change(f"/api/v1/{path}", body, headers={"If-Match": tag})
        assert (path, changed.status_code) == (path, 200)
        assert changed.headers["ETag"] == pool_admin.get(f"/api/v1/{path}").headers["ETag"] != tag
        assert change(f"/api/v1/{path}", body, headers={"If-Match": tag}).status_code == 412


@pytest.mark.django_db(transaction=True)
def test_of_two_changes_at_once_one_is_made(
    client_of: Callable[[User], APIClient], alice: User, project: Project
) -> None:
    address = f"/api/v1/projects/{project.pk}"
    tag = client_of(alice).get(address).headers["ETag"]
    start = Barrier(2)

    def change(name: str) -> int:
        client = client_of(alice)
        start.wait()
        try:
            return int(client.patch(address, {"name": name}, headers={"If-Match": tag}).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(change, ("one", "two"))) == [200, 412]
