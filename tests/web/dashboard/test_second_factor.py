"""The second factor: set up, asked for, required, lost; and that nothing opens before it was given."""

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from asgiref.testing import ApplicationCommunicator
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.api_tokens import TokenWish, create_token
from accounts.models import User
from audit.models import AuditEntry
from server.routing import websocket_application
from tests.web.dashboard.authenticator_app import PASSWORD, code_of, set_up
from tests.web.telemetry.sockets.socket_scenarios import scenario

MakeUser = Callable[..., User]
_addresses = itertools.count(1)


def log_in(user: User, client: Client | None = None) -> tuple[Client, Any]:
    """A browser, of an address of its own unless it is given, and the answer to its password."""
    client = client or Client(REMOTE_ADDR=f"198.19.{next(_addresses)}.1")
    return client, client.post("/login", {"username": user.username, "password": PASSWORD, "next": "/pool"})


def opens_socket(cookie: str) -> bool:
    """Whether the pool's websocket sends something to the session of that cookie."""
    scope = {
        "type": "websocket",
        "path": "/ws/v1/pool",
        "query_string": b"",
        "headers": [(b"cookie", cookie.encode()), (b"origin", b"http://localhost"), (b"host", b"localhost")],
    }
    answers: list[str] = []

    async def ask() -> None:
        opened = ApplicationCommunicator(websocket_application, scope)
        await opened.send_input({"type": "websocket.connect"})
        answers.extend([(await opened.receive_output(5))["type"] for _ in range(2)])
        await opened.send_input({"type": "websocket.disconnect", "code": 1000})
        await opened.wait(5)

    scenario(ask)
    assert answers[0] == "websocket.accept"
    return answers[1] == "websocket.send"


@pytest.fixture
def user(make_user: MakeUser) -> User:
    return make_user()


@pytest.fixture
def seeds(user: User) -> tuple[str, list[str]]:
    client = Client()
    client.force_login(user)
    return set_up(client)


def test_a_second_factor_is_set_up_after_the_password_and_its_codes_are_shown_once(user: User) -> None:
    client = Client()
    client.force_login(user)
    seed, codes = set_up(client)
    assert len(codes) == 10
    again = client.get("/account/recovery-codes").content.decode()
    assert not any(code in again for code in codes)
    assert "10 recovery codes are left" in client.get("/account").content.decode()
    kept = str(list(Authenticator.objects.values()))
    assert seed not in kept, "seeds are encrypted"
    assert list(AuditEntry.objects.values_list("action", flat=True)) == ["user.set_second_factor"]


def test_until_the_code_is_given_the_session_belongs_to_nobody(
    user: User, seeds: tuple[str, list[str]], settings: Settings
) -> None:
    client = Client()
    session = client.session
    session.save()
    planted = str(session.session_key)
    client.cookies[settings.SESSION_COOKIE_NAME] = planted
    client, answer = log_in(user, client)
    assert answer.headers["Location"] == "/login/second-factor"
    assert client.session.session_key != planted, "nobody who planted it may type codes"
    assert client.get("/pool").headers["Location"].startswith("/login")
    assert client.get("/api/v1/me").status_code == 401
    assert client.post("/api/v1/tokens", {}, content_type="application/json").status_code == 401
    assert client.get("/account/password").headers["Location"].startswith("/login")
    assert client.get("/account/second-factor/remove").status_code == 302
    before = client.session.session_key
    done = client.post("/login/second-factor", {"code": code_of(seeds[0])})
    assert done.headers["Location"] == "/pool"
    assert client.session.session_key != before
    assert client.get("/api/v1/me").status_code == 200
    entry = AuditEntry.objects.filter(action="user.sign_in").get()
    assert entry.changes["by"] == ["password", "mfa"]


def test_codes_are_guessed_five_times_at_most(user: User, seeds: tuple[str, list[str]]) -> None:
    client, _ = log_in(user)
    for _ in range(5):
        assert client.post("/login/second-factor", {"code": "000000"}).status_code == 200
    closed = client.post("/login/second-factor", {"code": seeds[1][0]})
    assert closed.status_code == 429 and b"Too many attempts" in closed.content
    assert 240 < int(closed.headers["Retry-After"]) <= 300
    assert AuditEntry.objects.filter(action="user.second_factor_failed", user=user).count() == 5


def test_a_recovery_code_opens_once(user: User, seeds: tuple[str, list[str]]) -> None:
    for expected in (302, 200):
        client, _ = log_in(user)
        assert client.post("/login/second-factor", {"code": seeds[1][3]}).status_code == expected


def test_a_code_of_the_app_opens_once(user: User, seeds: tuple[str, list[str]]) -> None:
    """Somebody who saw it typed may not use it in the same half minute."""
    code = code_of(seeds[0])
    first, _ = log_in(user)
    first.post("/login/second-factor", {"code": code})
    second, _ = log_in(user)
    assert second.post("/login/second-factor", {"code": code}).status_code == 200


def test_a_changed_password_opens_no_way_around_it(user: User, seeds: tuple[str, list[str]]) -> None:
    user.set_password("another horse")
    user.save()
    client = Client()
    answer = client.post("/login", {"username": user.username, "password": "another horse"})
    assert answer.headers["Location"] == "/login/second-factor"


def test_tokens_need_none(user: User, seeds: tuple[str, list[str]], settings: Settings) -> None:
    settings.TANDEM_SECOND_FACTOR = "everyone"
    _, token = create_token(user=user, wish=TokenWish())
    assert APIClient(headers={"Authorization": f"Bearer {token}"}).get("/api/v1/me").status_code == 200


@pytest.mark.parametrize(
    ("policy", "rights", "required"),
    [
        ("optional", {"is_superuser": True}, False),
        ("admins", {}, False),
        ("admins", {"is_pool_admin": True}, True),
        ("admins", {"is_superuser": True}, True),
        ("everyone", {}, True),
    ],
)
def test_where_one_is_required_a_session_does_nothing_before_it_is_set_up(
    make_user: MakeUser, settings: Settings, policy: str, rights: dict[str, bool], required: bool
) -> None:
    settings.TANDEM_SECOND_FACTOR = policy
    client, _ = log_in(make_user(**rights))
    if not required:
        assert client.get("/pool").status_code == 200
        return
    for page in ("/pool", "/account", "/account/password", "/admin/"):
        assert client.get(page).headers["Location"] == "/account/second-factor"
    refused = client.get("/api/v1/me")
    assert (refused.status_code, refused.headers["Content-Type"]) == (403, "application/problem+json")
    set_up(client)
    assert client.get("/pool").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_no_websocket_opens_before_the_second_factor(make_user: MakeUser, settings: Settings) -> None:
    user = make_user()
    settings.TANDEM_SECOND_FACTOR = "everyone"
    client, _ = log_in(user)

    def opens(client: Client) -> bool:
        return opens_socket(f"{settings.SESSION_COOKIE_NAME}={client.session.session_key}")

    assert not opens(client), "it is required, and not set up"
    set_up(client)
    assert opens(client)
    assert not opens(log_in(user)[0]), "the password alone is not enough"


def test_removing_it_asks_for_the_password_or_a_code(user: User) -> None:
    client = Client()
    client.force_login(user)
    set_up(client)
    stale = Client()
    stale.force_login(user)
    assert stale.post("/account/second-factor/remove").headers["Location"].startswith("/account/confirm/password")
    assert Authenticator.objects.filter(user=user).exists()
    client.post("/account/second-factor/remove")
    assert not Authenticator.objects.filter(user=user).exists(), "the recovery codes end with it"
    assert AuditEntry.objects.filter(action="user.remove_second_factor", user=user).count() == 1


def test_an_administrator_resets_it_and_nobody_else(
    user: User, seeds: tuple[str, list[str]], admin: User, make_user: MakeUser
) -> None:
    address = f"/api/v1/users/{user.pk}/second-factor"
    for other in (user, admin):
        client = APIClient()
        client.force_authenticate(other)
        assert client.delete(address).status_code == 403
    root = APIClient()
    root.force_authenticate(make_user("root", is_superuser=True))
    assert root.delete(address).status_code == 204
    _, answer = log_in(user)
    assert answer.headers["Location"] == "/pool"
    entry = AuditEntry.objects.get(action="user.reset_second_factor")
    assert (entry.actor, entry.object_name, entry.changes) == ("root", user.username, {"num_removed": 2})


def test_an_administrator_resets_it_in_the_records(
    user: User, seeds: tuple[str, list[str]], client: Client, make_user: MakeUser
) -> None:
    action = {"action": "reset_second_factors", "_selected_action": [str(user.pk)]}
    client.force_login(make_user("staff", is_staff=True))
    assert client.post("/admin/accounts/user/", action).status_code == 403
    client.force_login(make_user("root", is_superuser=True, is_staff=True))
    assert client.post("/admin/accounts/user/", action).status_code == 302
    assert not Authenticator.objects.filter(user=user).exists()


def test_a_command_resets_it_for_the_last_administrator(user: User, seeds: tuple[str, list[str]]) -> None:
    call_command("reset_second_factor", user.username)
    assert not Authenticator.objects.filter(user=user).exists()
    assert AuditEntry.objects.get(action="user.reset_second_factor").actor == "manage.py reset_second_factor"
    with pytest.raises(CommandError, match="there is no user `nobody`"):
        call_command("reset_second_factor", "nobody")


def test_the_admin_shows_no_seed(client: Client, make_user: MakeUser) -> None:
    client.force_login(make_user(is_superuser=True, is_staff=True))
    assert client.get("/admin/mfa/authenticator/").status_code == 404


def test_a_code_is_guessed_no_further_by_logging_in_anew_or_from_elsewhere(
    user: User, seeds: tuple[str, list[str]]
) -> None:
    for _ in range(5):
        client, _ = log_in(user)
        assert client.post("/login/second-factor", {"code": "000000"}).status_code == 200
    client, _ = log_in(user)
    assert client.post("/login/second-factor", {"code": code_of(seeds[0])}).status_code == 429


def test_a_recovery_code_opens_once_of_two_browsers(user: User, seeds: tuple[str, list[str]]) -> None:
    first, _ = log_in(user)
    second, _ = log_in(user)
    assert first.post("/login/second-factor", {"code": seeds[1][0]}).status_code == 302
    assert second.post("/login/second-factor", {"code": seeds[1][0]}).status_code == 200
    assert second.get("/api/v1/me").status_code == 401


@pytest.mark.django_db(transaction=True)
def test_of_two_who_send_a_code_at_once_the_second_finds_it_used(make_user: MakeUser) -> None:
    user = make_user()
    owner = Client()
    owner.force_login(user)
    _, codes = set_up(owner)
    client, _ = log_in(user)

    def send() -> int:
        try:
            return client.post("/login/second-factor", {"code": codes[0]}).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as other:
        with transaction.atomic():
            # As the first does, which then looks whether the code was used.
            User.objects.select_for_update().get(pk=user.pk)
            sent = other.submit(send)
            with pytest.raises(TimeoutError):
                sent.result(timeout=1)
            kept = Authenticator.objects.get(user=user, type=Authenticator.Type.RECOVERY_CODES)
            assert kept.wrap().validate_code(codes[0])
        assert sent.result(timeout=20) == 200


def test_new_recovery_codes_make_the_old_ones_worthless(user: User, seeds: tuple[str, list[str]]) -> None:
    owner = Client()
    owner.force_login(user)
    owner.post("/account/confirm/password", {"password": PASSWORD})
    assert owner.post("/account/recovery-codes/new").status_code == 302
    client, _ = log_in(user)
    assert client.post("/login/second-factor", {"code": seeds[1][1]}).status_code == 200


@pytest.mark.parametrize("foreign", ["https://example.com/", "//example.com", "/\\example.com", "javascript:alert(1)"])
def test_no_confirmation_leads_to_a_foreign_address(user: User, foreign: str) -> None:
    client = Client()
    client.force_login(user)
    answer = client.post("/account/confirm/password", {"password": PASSWORD, "next": foreign})
    assert answer.headers["Location"] == "/"
