"""Security keys and passkeys: made one's own, asked for, removed; and what an attacker would try with them."""

import itertools
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from allauth.account.internal.stagekit import LOGIN_SESSION_KEY
from allauth.mfa.models import Authenticator
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from accounts.sign_in.security_key_forms import MAX_KEYS
from audit.models import AuditEntry
from tests.web.dashboard.authenticator_app import PASSWORD
from tests.web.dashboard.software_key import SoftwareKey

MakeUser = Callable[..., User]
_addresses = itertools.count(1)


def visitor() -> Client:
    """A browser of an address of its own, over HTTPS."""
    return Client(REMOTE_ADDR=f"198.19.{next(_addresses)}.2", headers={"X-Forwarded-Proto": "https"})


def logged_in(user: User) -> Client:
    client = visitor()
    client.force_login(user)
    return client


def asked(answer: Any) -> dict[str, Any]:
    """What a page has the browser ask of the key."""
    found: dict[str, Any] = json.loads(answer.context["asked"])
    return found


def add(
    client: Client, key: SoftwareKey, *, name: str = "my key", is_passkey: bool = False, stays: bool | None = None
) -> Any:
    """The answer to the page's form. `stays`: whether the browser says that it stays on the key, by default rightly."""
    page = client.get("/account/security-keys/add")
    if page.status_code == 302:
        assert client.post(page.headers["Location"], {"password": PASSWORD}).status_code == 302
        page = client.get("/account/security-keys/add")
    form = {"name": name, "credential": key.made(asked(page), stays=is_passkey if stays is None else stays)}
    return client.post("/account/security-keys/add", form | ({"passwordless": "on"} if is_passkey else {}))


def after_password(user: User) -> Client:
    client = visitor()
    form = {"username": user.username, "password": PASSWORD, "next": "/pool"}
    assert client.post("/login", form).headers["Location"] == "/login/second-factor"
    return client


def passkey_options(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/login/passkey").json()
    return found


@pytest.fixture
def user(make_user: MakeUser) -> User:
    return make_user()


def test_a_key_is_added_after_the_password_and_asked_for_at_sign_in(user: User) -> None:
    key, client = SoftwareKey(asks_for_person=False), logged_in(user)
    assert client.get("/account/security-keys/add").status_code == 302, "the password is asked for first"
    assert add(client, key).headers["Location"] == "/account/recovery-codes"
    assert len(re.findall(rb"<li>\d{8}</li>", client.get("/account/recovery-codes").content)) == 10
    assert "my key" in client.get("/account").content.decode()

    client = after_password(user)
    assert client.get("/api/v1/me").status_code == 401
    credential = key.used(asked(client.get("/login/second-factor")))
    assert client.post("/login/second-factor", {"credential": credential}).headers["Location"] == "/pool"
    assert client.get("/api/v1/me").status_code == 200
    entry = AuditEntry.objects.filter(action="user.sign_in").get()
    assert entry.changes["by"] == ["password", "mfa"]
    assert AuditEntry.objects.filter(action="user.add_security_key").get().changes["name"] == "my key"


def test_a_passkey_opens_alone_and_gives_the_session_another_key(user: User) -> None:
    key = SoftwareKey()
    add(logged_in(user), key, is_passkey=True)
    client = visitor()
    credential = key.used(passkey_options(client))
    planted = client.session.session_key
    answer = client.post("/login/passkey", {"credential": credential, "next": "/pool"})
    assert answer.headers["Location"] == "/pool"
    assert client.session.session_key != planted
    assert client.get("/api/v1/me").json()["username"] == user.username
    assert client.get("/login/passkey").status_code == 302, "who is logged in is past it"


@pytest.mark.parametrize("foreign", ["https://example.com/", "//example.com", "/\\example.com"])
def test_a_passkey_sends_nobody_to_a_foreign_address(user: User, foreign: str) -> None:
    key = SoftwareKey()
    add(logged_in(user), key, is_passkey=True)
    client = visitor()
    answer = client.post("/login/passkey", {"credential": key.used(passkey_options(client)), "next": foreign})
    assert answer.headers["Location"] == "/"


def test_a_key_that_is_a_second_factor_alone_opens_nothing_alone(user: User, make_user: MakeUser) -> None:
    """Also not by the challenge of somebody else's second factor, whose answer asks for no PIN."""
    key, thief, own = SoftwareKey(asks_for_person=False), make_user(), SoftwareKey(identity=b"credential-2")
    add(logged_in(user), key)
    add(logged_in(thief), own)
    client = visitor()
    assert client.post("/login/passkey", {"credential": key.used(passkey_options(client))}).status_code == 403
    client = after_password(thief)
    challenge = asked(client.get("/login/second-factor"))
    session = client.session
    # As after a quarter of an hour, when the password has to be given again.
    del session[LOGIN_SESSION_KEY]
    session.save()
    assert client.post("/login/passkey", {"credential": key.used(challenge)}).status_code == 403
    # A key with a PIN, which was not made to log in alone.
    with_pin = SoftwareKey(identity=b"credential-3")
    add(logged_in(user), with_pin)
    client = visitor()
    assert client.post("/login/passkey", {"credential": with_pin.used(passkey_options(client))}).status_code == 403
    assert not AuditEntry.objects.filter(action="user.sign_in").exists()
    assert AuditEntry.objects.filter(action="user.sign_in_failed").count() == 3


@pytest.mark.parametrize(("is_passkey", "stays", "status"), [(False, True, 403), (True, False, 302)])
def test_what_was_chosen_says_whether_a_key_opens_alone_and_not_what_a_browser_says(
    user: User, is_passkey: bool, stays: bool, status: int
) -> None:
    """Keys of phones and laptops always stay there, and some browsers do not tell."""
    key = SoftwareKey()
    add(logged_in(user), key, is_passkey=is_passkey, stays=stays)
    client = visitor()
    assert client.post("/login/passkey", {"credential": key.used(passkey_options(client))}).status_code == status


def test_an_answer_is_taken_once_and_of_this_browser_and_this_site_alone(user: User) -> None:
    key = SoftwareKey()
    add(logged_in(user), key, is_passkey=True)
    first = visitor()
    credential = key.used(passkey_options(first))
    assert visitor().post("/login/passkey", {"credential": credential}).status_code == 403, "another browser's"
    assert first.post("/login/passkey", {"credential": credential}).status_code == 302
    first.post("/logout")
    assert first.post("/login/passkey", {"credential": credential}).status_code == 403, "a second time"
    key.origin = "https://testserver.example.com"
    other = visitor()
    assert other.post("/login/passkey", {"credential": key.used(passkey_options(other))}).status_code == 403


def test_the_key_of_another_opens_no_account(user: User, make_user: MakeUser) -> None:
    key, own = SoftwareKey(), SoftwareKey(identity=b"credential-2")
    add(logged_in(user), key, is_passkey=True)
    add(logged_in(make_user()), own, is_passkey=True)
    client = visitor()
    credential = own.used(passkey_options(client), owner=key.owner)
    assert client.post("/login/passkey", {"credential": credential}).status_code == 403
    client = after_password(user)
    credential = own.used(asked(client.get("/login/second-factor")))
    assert client.post("/login/second-factor", {"credential": credential}).status_code == 200
    assert client.get("/api/v1/me").status_code == 401


def test_wrong_keys_and_wrong_codes_are_counted_together(user: User) -> None:
    key = SoftwareKey()
    add(logged_in(user), key)
    client = after_password(user)
    wrong = SoftwareKey(identity=key.identity)
    for _ in range(5):
        credential = wrong.used(asked(client.get("/login/second-factor")))
        assert client.post("/login/second-factor", {"credential": credential}).status_code == 200
    closed = client.post("/login/second-factor", {"code": "000000"})
    assert closed.status_code == 429
    right = key.used(asked(client.get("/login/second-factor")))
    closed = client.post("/login/second-factor", {"credential": right})
    assert (closed.status_code, "Retry-After" in closed.headers) == (429, True)


def test_a_switched_off_account_and_a_service_account_stay_out(user: User) -> None:
    key = SoftwareKey()
    add(logged_in(user), key, is_passkey=True)
    for change in ({"is_active": False}, {"is_active": True, "is_service_account": True}):
        User.objects.filter(pk=user.pk).update(**change)
        client = visitor()
        answer = client.post("/login/passkey", {"credential": key.used(passkey_options(client))})
        assert answer.headers["Location"] == "/login/inactive"
        assert client.get("/api/v1/me").status_code == 401


def test_an_address_that_begins_again_and_again_is_told_to_wait(db: None) -> None:
    client = visitor()
    answers = [client.get("/login/passkey").status_code for _ in range(31)]
    assert answers == [200] * 30 + [429]


def test_where_passwords_open_nothing_passkeys_do_not_either(user: User, settings: Settings) -> None:
    settings.TANDEM_OIDC_ONLY = True
    assert visitor().get("/login/passkey").status_code == 403
    assert visitor().post("/login/passkey", {"credential": "{}"}).status_code == 403


@pytest.mark.parametrize(
    "credential",
    [
        "",
        "null",
        "[]",
        "7",
        "{}",
        '{"id": 1}',
        '{"id": "x", "rawId": "x", "response": {}}',
        '{"id": "eA", "rawId": "eB"}',
    ],
)
def test_what_no_browser_sends_is_refused(user: User, credential: str) -> None:
    client = logged_in(user)
    add(client, SoftwareKey())
    passkey_options(visitor())
    fresh = visitor()
    passkey_options(fresh)
    assert fresh.post("/login/passkey", {"credential": credential}).status_code == 403
    assert client.post("/account/security-keys/add", {"credential": credential}).status_code == 200
    assert after_password(user).post("/login/second-factor", {"credential": credential}).status_code == 200


def test_a_key_satisfies_a_required_second_factor_until_it_is_removed(user: User, settings: Settings) -> None:
    settings.TANDEM_SECOND_FACTOR = "everyone"
    client = logged_in(user)
    assert client.get("/pool").headers["Location"] == "/account/second-factor"
    add(client, SoftwareKey())
    assert client.get("/pool").status_code == 200
    made = Authenticator.objects.get(user=user, type=Authenticator.Type.WEBAUTHN)
    assert client.delete(f"/account/security-keys/{made.pk}/remove").status_code == 405, "no way past the records"
    assert client.post(f"/account/security-keys/{made.pk}/remove").headers["Location"] == "/account"
    assert not Authenticator.objects.filter(user=user).exists(), "the recovery codes end with the last key"
    assert client.get("/pool").headers["Location"] == "/account/second-factor"
    assert AuditEntry.objects.filter(action="user.remove_security_key").get().changes["name"] == "my key"


def test_nobody_removes_the_key_of_another(user: User, make_user: MakeUser) -> None:
    add(logged_in(user), SoftwareKey())
    made = Authenticator.objects.get(user=user, type=Authenticator.Type.WEBAUTHN)
    other = logged_in(make_user())
    add(other, SoftwareKey(identity=b"credential-2"))
    assert other.post(f"/account/security-keys/{made.pk}/remove").status_code == 404
    assert Authenticator.objects.filter(pk=made.pk).exists()


def test_an_account_has_a_bounded_number_of_keys(user: User) -> None:
    client = logged_in(user)
    add(client, SoftwareKey())
    made = Authenticator.objects.get(user=user, type=Authenticator.Type.WEBAUTHN)
    Authenticator.objects.bulk_create(
        Authenticator(user=user, type=made.type, data=made.data) for _ in range(MAX_KEYS - 1)
    )
    refused = add(client, SoftwareKey(identity=b"credential-2"))
    assert f"has {MAX_KEYS} keys at most" in refused.content.decode()


def test_the_last_way_to_sign_in_is_not_removed(user: User) -> None:
    key = SoftwareKey()
    add(logged_in(user), key, is_passkey=True)
    made = Authenticator.objects.get(user=user, type=Authenticator.Type.WEBAUTHN)
    user.set_unusable_password()
    user.save()
    client = visitor()
    assert client.post("/login/passkey", {"credential": key.used(passkey_options(client))}).status_code == 302
    address = f"/account/security-keys/{made.pk}/remove"
    assert client.post(address).headers["Location"].startswith("/account/confirm/code")
    wrong = client.post("/account/confirm/key", {"credential": '{"id": 1}'})
    assert (wrong.status_code, b"This code or key is wrong" in wrong.content) == (200, True)
    credential = key.used(asked(client.get("/account/confirm/key")))
    # What was asked for before the key is done after it.
    refused = client.post("/account/confirm/key", {"credential": credential, "next": address})
    assert refused.status_code == 409
    assert "Nothing but this passkey signs you in" in refused.content.decode()
