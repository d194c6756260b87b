"""Tokens: shown once, named, expiring, listed, revoked."""

from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.api_tokens import TokenWish, create_token
from accounts.models import ApiToken, Project, User
from accounts.token_limits import limits_of
from audit.models import AuditEntry

pytestmark = pytest.mark.django_db


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_token_is_shown_once_and_opens_the_api(api: APIClient, alice: User) -> None:
    made = api.post("/api/v1/tokens", {"name": "nightly sweep"})
    assert made.status_code == 201
    token = made.json()["token"]
    me = APIClient().get("/api/v1/me", headers=bearer(token))
    assert me.json() == {"id": alice.pk, "username": "alice", "is_pool_admin": False, "is_superuser": False}
    (listed,) = api.get("/api/v1/tokens").json()["results"]
    assert listed["name"] == "nightly sweep"
    assert set(listed) == {"id", "name", "created_at", "expires_at", "last_used_at", "scopes", "projects", "pools"}
    assert token not in str(listed)


def test_only_a_hash_is_kept(api: APIClient) -> None:
    token = api.post("/api/v1/tokens", {}).json()["token"]
    assert token not in str(list(ApiToken.objects.values()))


def test_a_revoked_token_opens_nothing(api: APIClient) -> None:
    made = api.post("/api/v1/tokens", {}).json()
    assert api.delete(f"/api/v1/tokens/{made['id']}").status_code == 204
    answer = APIClient().get("/api/v1/me", headers=bearer(made["token"]))
    assert answer.status_code == 401
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_an_expired_token_opens_nothing(api: APIClient) -> None:
    token = api.post("/api/v1/tokens", {"expires_in_days": 1}).json()["token"]
    ApiToken.objects.update(expiry=timezone.now() - timedelta(seconds=1))
    assert APIClient().get("/api/v1/me", headers=bearer(token)).status_code == 401


def test_nobody_revokes_somebody_elses(api: APIClient, client_of: object, bob: User) -> None:
    made = api.post("/api/v1/tokens", {}).json()
    other = APIClient()
    other.force_authenticate(bob)
    assert other.get("/api/v1/tokens").json()["results"] == []
    assert other.delete(f"/api/v1/tokens/{made['id']}").status_code == 404
    assert ApiToken.objects.count() == 1


def test_a_lifetime_out_of_bounds_is_refused(api: APIClient) -> None:
    refused = api.post("/api/v1/tokens", {"expires_in_days": 0})
    assert refused.status_code == 400
    assert list(refused.json()["errors"]) == ["expires_in_days"]


def test_a_session_needs_its_csrf_token(alice: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)
    assert strict.get("/api/v1/me").status_code == 200
    assert strict.post("/api/v1/tokens", {}, content_type="application/json").status_code == 403


def opens(token: str) -> bool:
    return APIClient().get("/api/v1/me", headers=bearer(token)).status_code == 200


def made_with(token: str) -> dict[str, str]:
    made = APIClient().post("/api/v1/tokens", {"scopes": ["admin"]}, headers=bearer(token), format="json")
    assert made.status_code == 201
    return dict(made.json())


def test_tokens_made_with_a_token_end_with_it(api: APIClient) -> None:
    """Else who found one could keep the door open for good."""
    found, kept = (api.post("/api/v1/tokens", {"scopes": ["admin"]}).json() for _ in range(2))
    child = made_with(found["token"])["token"]
    grandchild = made_with(child)["token"]
    of_kept = made_with(kept["token"])["token"]
    assert api.delete(f"/api/v1/tokens/{found['id']}").status_code == 204
    assert [opens(token) for token in (found["token"], child, grandchild)] == [False] * 3
    assert opens(kept["token"]) and opens(of_kept)
    revoked = AuditEntry.objects.filter(action="token.revoke").order_by("pk")
    assert [entry.changes.get("made_with") for entry in revoked] == [None, found["id"], found["id"]]


def test_tokens_of_service_accounts_end_with_the_token_that_made_them(api: APIClient, project: Project) -> None:
    found = api.post("/api/v1/tokens", {"scopes": ["admin"]}).json()
    account = api.post("/api/v1/service-accounts", {"project": str(project.pk), "name": "ci"}).json()
    tokens = f"/api/v1/service-accounts/{account['id']}/tokens"
    made = APIClient().post(tokens, {"scopes": ["read"]}, headers=bearer(found["token"]), format="json").json()["token"]
    assert opens(made)
    api.delete(f"/api/v1/tokens/{found['id']}")
    assert not opens(made)


def test_a_token_that_is_revoked_meanwhile_makes_none(alice: User) -> None:
    entry, _ = create_token(user=alice, wish=TokenWish())
    alice.token_limits = limits_of(entry)
    ApiToken.objects.all().delete()
    with pytest.raises(PermissionDenied, match="revoked meanwhile"):
        create_token(user=alice, wish=TokenWish())
