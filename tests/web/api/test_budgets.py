"""Budgets over REST."""

from collections.abc import Callable
from uuid import uuid4

from rest_framework.test import APIClient

from accounts.models import Project, User
from fleet.models import ProjectBudget

ClientOf = Callable[[User], APIClient]
MONTHLY = {"amount": "100", "unit": "gpu_hours"}


def test_an_admin_sets_a_budget_and_members_see_what_is_spent(
    pool_admin: APIClient, api: APIClient, project: Project
) -> None:
    saved = pool_admin.put(f"/api/v1/budgets/{project.pk}", MONTHLY, format="json")
    assert saved.status_code == 200, saved.content
    (seen,) = api.get("/api/v1/budgets").json()["results"]
    assert seen == saved.json()
    assert (seen["amount"], seen["unit"], seen["period"], seen["when_spent"]) == (
        "100.0000",
        "gpu_hours",
        "month",
        "hold",
    )
    assert (seen["spent"], seen["is_near"], seen["is_spent"]) == ("0.0000", False, False)
    assert pool_admin.delete(f"/api/v1/budgets/{project.pk}").status_code == 204
    assert api.get("/api/v1/budgets").json()["results"] == []


def test_outsiders_see_none_and_members_set_none(
    pool_admin: APIClient, api: APIClient, client_of: ClientOf, charlie: User, project: Project
) -> None:
    pool_admin.put(f"/api/v1/budgets/{project.pk}", MONTHLY, format="json")
    assert client_of(charlie).get("/api/v1/budgets").json()["results"] == []
    for path in (project.pk, uuid4()):
        assert api.put(f"/api/v1/budgets/{path}", MONTHLY, format="json").status_code == 403
        assert api.delete(f"/api/v1/budgets/{path}").status_code == 403
    assert ProjectBudget.objects.count() == 1


def test_what_is_wrong_is_named_and_nothing_is_saved(pool_admin: APIClient, project: Project) -> None:
    address = f"/api/v1/budgets/{project.pk}"
    for wrong in ({"amount": "-1"}, {"warn_at": 1.5}, {"unit": "euro"}, {"when_spent": "shout"}, {"amount": "NaN"}):
        answer = pool_admin.put(address, {**MONTHLY, **wrong}, format="json")
        assert answer.status_code == 400
        assert set(answer.json()["errors"]) == set(wrong), answer.json()
    assert pool_admin.put(f"/api/v1/budgets/{uuid4()}", MONTHLY, format="json").status_code == 404
    assert not ProjectBudget.objects.exists()
