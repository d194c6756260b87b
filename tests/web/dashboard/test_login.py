"""Logging in and out with the account's password: words, limits, redirects, and what is recorded."""

import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from accounts.api_tokens import TokenWish, create_token
from accounts.models import User
from accounts.sign_in.sign_in_links import make_sign_in_link
from audit.models import AuditEntry
from tests.web.dashboard.authenticator_app import set_up

_hosts = itertools.count(1)


@pytest.fixture
def bob(make_user: Callable[..., User]) -> User:
    """Of another name in every test: the broker counts failed attempts by name, too."""
    return make_user(f"bob-{next(_hosts)}")


def right(user: User) -> dict[str, str]:
    return {"username": user.username, "password": "correct horse"}


def wrong(user: User) -> dict[str, str]:
    return {"username": user.username, "password": "battery staple"}


@pytest.fixture
def visitor() -> Callable[[], Client]:
    """Clients with an address each: the broker counts failed attempts by address, for all tests together."""
    return lambda: Client(REMOTE_ADDR=f"198.18.{next(_hosts)}.1")


def test_the_right_password_opens_the_page_asked_for(client: Client, bob: User) -> None:
    response = client.post(reverse("login"), {**right(bob), "next": reverse("pool")})
    assert response.status_code == 302
    assert response.headers["Location"] == reverse("pool")


def test_the_form_keeps_the_page_asked_for(db: None, client: Client) -> None:
    assert b'name="next" value="/queue?pool=a&amp;x=1"' in client.get("/login?next=/queue%3Fpool=a%26x=1").content


def test_a_wrong_password_and_an_unknown_user_are_refused_in_the_same_words(
    visitor: Callable[[], Client], bob: User
) -> None:
    pages = []
    for username in (bob.username, "nobody"):
        client = visitor()
        response = client.post(reverse("login"), {**wrong(bob), "username": username})
        assert response.status_code == 200
        assert "_auth_user_id" not in client.session
        pages.append(response.content.decode().split("notice bad")[1].split("</p>")[0])
    assert pages[0] == pages[1] == '" role="alert">The user name or the password is wrong.'


@pytest.mark.parametrize(
    "foreign", ["https://example.com/", "//example.com", "http://localhost/", r"/\example.com", "javascript:alert(1)"]
)
def test_login_never_sends_anyone_to_a_foreign_address(client: Client, bob: User, foreign: str) -> None:
    assert client.post(reverse("login"), {**right(bob), "next": foreign}).headers["Location"] == "/"
    assert client.get(reverse("login"), {"next": foreign}).headers["Location"] == "/", "nor who is logged in already"


def test_logging_in_gives_the_session_another_key(client: Client, bob: User, settings: Settings) -> None:
    client.session.save()
    planted = str(client.session.session_key)
    client.cookies[settings.SESSION_COOKIE_NAME] = planted
    client.post(reverse("login"), right(bob))
    assert client.session.session_key != planted
    assert Client(headers={"Cookie": f"{settings.SESSION_COOKIE_NAME}={planted}"}).get("/").status_code == 302


def test_logging_out_takes_a_post(client: Client, bob: User) -> None:
    client.force_login(bob)
    assert client.get(reverse("logout")).status_code == 405
    client.post(reverse("logout"))
    assert client.get(reverse("runs")).status_code == 302


def test_a_form_without_its_token_is_refused(bob: User) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post(reverse("login"), right(bob)).status_code == 403


def test_an_account_is_closed_after_five_wrong_passwords_to_the_right_one_too(
    visitor: Callable[[], Client], bob: User
) -> None:
    for _ in range(5):
        assert visitor().post(reverse("login"), wrong(bob)).status_code == 200
    refused = visitor().post(reverse("login"), right(bob))
    assert refused.status_code == 429
    assert 240 < int(refused.headers["Retry-After"]) <= 300
    assert b"Too many attempts failed. Try again in 5 minutes." in refused.content
    assert visitor().post(reverse("login"), {**right(bob), "username": "nobody"}).status_code == 200, "others may go on"


def test_an_unknown_name_is_closed_as_an_account_is(visitor: Callable[[], Client], bob: User) -> None:
    form = {**wrong(bob), "username": "unknown-and-closed"}
    answers = [visitor().post(reverse("login"), form).status_code for _ in range(6)]
    assert answers == [200] * 5 + [429]


def test_an_address_that_tries_many_names_is_held_back(visitor: Callable[[], Client], bob: User) -> None:
    client = visitor()
    answers = [client.post(reverse("login"), {**wrong(bob), "username": f"guess-{n}"}) for n in range(11)]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429]
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 60


def test_an_address_that_sends_form_after_form_gets_a_page_that_says_to_wait(
    visitor: Callable[[], Client], bob: User, settings: Settings
) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"login": "1/m/ip"}
    client = visitor()
    client.post(reverse("login"), wrong(bob))
    refused = client.post(reverse("login"), wrong(bob))
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
    assert b"tandem/app.css" in refused.content


def test_an_address_that_a_client_claims_is_believed_of_own_proxies_alone(
    visitor: Callable[[], Client], bob: User, settings: Settings
) -> None:
    def addresses(claimed: str) -> list[Any]:
        visitor().post(reverse("login"), right(bob), headers={"X-Forwarded-For": claimed})
        return [entry.changes["address"] for entry in AuditEntry.objects.filter(action="user.sign_in")[:1]]

    assert addresses("203.0.113.7") != ["203.0.113.7"]
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    assert addresses("10.0.0.1, 203.0.113.7") == ["203.0.113.7"]


def test_attempts_are_recorded_without_what_may_have_been_a_password(visitor: Callable[[], Client], bob: User) -> None:
    client = visitor()
    client.post(reverse("login"), wrong(bob))
    client.post(reverse("login"), {**wrong(bob), "username": "hunter2"})
    client.post(reverse("login"), right(bob), headers={"X-Request-ID": "the-login"})
    entries = list(AuditEntry.objects.order_by("pk"))
    assert [(e.action, e.actor, e.object_name) for e in entries] == [
        ("user.sign_in_failed", bob.username, bob.username),
        ("user.sign_in_failed", "somebody", ""),
        ("user.sign_in", bob.username, bob.username),
    ]
    assert entries[-1].request_id == "the-login" and entries[-1].changes["by"] == ["password"]
    assert not any(word in str(vars(entry)) for entry in entries for word in ("hunter2", "battery", "horse"))


def test_an_account_that_is_switched_off_does_not_tell_whether_the_password_was_right(
    visitor: Callable[[], Client], bob: User
) -> None:
    bob.is_active = False
    bob.save()
    for form in (wrong(bob), right(bob)):
        answer = visitor().post(reverse("login"), form)
        assert answer.status_code == 200 and b"The user name or the password is wrong." in answer.content


def test_the_password_is_changed_by_who_is_logged_in_and_that_is_recorded(client: Client, bob: User) -> None:
    form = {"old_password": "correct horse", "new_password1": "staple battery 9", "new_password2": "staple battery 9"}
    assert client.post("/account/password", form).headers["Location"].startswith("/login")
    client.force_login(bob)
    other = Client()
    other.force_login(bob)
    assert client.post("/account/password", form).headers["Location"] == "/account"
    assert client.get("/account").status_code == 200
    assert other.get("/account").status_code == 302, "sessions elsewhere end"
    assert AuditEntry.objects.get().action == "user.change_password"


@pytest.mark.parametrize(("asked", "num_left"), [({"end_tokens": "on"}, 0), ({}, 1)])
def test_api_tokens_end_with_the_old_password_unless_their_owner_keeps_them(
    client: Client, bob: User, asked: dict[str, str], num_left: int
) -> None:
    create_token(user=bob, wish=TokenWish(name="ci"))
    client.force_login(bob)
    assert re.search(rb'name="end_tokens"[^>]* checked', client.get("/account/password").content)
    form = {"old_password": "correct horse", "new_password1": "staple battery 9", "new_password2": "staple battery 9"}
    assert client.post("/account/password", {**form, **asked}).status_code == 302
    assert bob.auth_token_set.count() == num_left


def test_tokens_end_where_an_administrator_gives_a_new_password(client: Client, admin_user: User, bob: User) -> None:
    create_token(user=bob, wish=TokenWish(name="ci"))
    client.force_login(admin_user)
    form = {"password1": "staple battery 9", "password2": "staple battery 9", "usable_password": "true"}
    answer = client.post(reverse("admin:auth_user_password_change", args=[bob.pk]), form)
    assert answer.status_code == 302, answer.content
    assert bob.auth_token_set.count() == 0


@pytest.mark.parametrize("password", ["{name}{name}", "{name}12", "password123", "short1"])
def test_passwords_that_are_easily_guessed_are_refused(client: Client, bob: User, password: str) -> None:
    client.force_login(bob)
    password = password.format(name=bob.username)
    form = {"old_password": "correct horse", "new_password1": password, "new_password2": password}
    assert client.post("/account/password", form).status_code == 200
    bob.refresh_from_db()
    assert bob.check_password("correct horse")


def test_the_current_password_is_guessed_five_times_a_minute_at_most(client: Client, bob: User) -> None:
    client.force_login(bob)
    answers = [client.post("/account/password", {"old_password": "x"}).status_code for _ in range(6)]
    assert answers == [200] * 5 + [429]


def test_the_records_have_no_login_of_their_own(client: Client, bob: User) -> None:
    """It would ask no second factor, and count no attempts."""
    assert client.get("/admin/login/?next=/admin/").headers["Location"] == "/login?next=/admin/"
    assert client.post("/admin/login/", right(bob)).headers["Location"] == "/login?next=/admin/"
    client.force_login(bob)
    assert client.get("/admin/", follow=True).status_code == 403


def test_the_cookies_of_a_session_stay_out_of_scripts_and_of_other_sites(
    client: Client, bob: User, settings: Settings
) -> None:
    client.post(reverse("login"), right(bob))
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    assert cookie["httponly"] and cookie["samesite"] == "Lax"


class CountedHasher(PBKDF2PasswordHasher):
    """Counts what takes the time of a sign-in."""

    iterations = 1
    num_hashed = 0

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        type(self).num_hashed += 1
        return str(super().encode(password, salt, iterations))


def test_every_name_that_is_refused_takes_as_many_hashes(
    visitor: Callable[[], Client], make_user: Callable[..., User], settings: Settings
) -> None:
    settings.PASSWORD_HASHERS = [f"{CountedHasher.__module__}.CountedHasher"]
    accounts = [make_user(f"timed-{next(_hosts)}") for _ in range(4)]
    known, switched_off, of_provider, script = accounts
    User.objects.filter(pk=switched_off.pk).update(is_active=False)
    User.objects.filter(pk=script.pk).update(is_service_account=True)
    of_provider.set_unusable_password()
    of_provider.save()
    numbers = []
    for username in (f"nobody-{next(_hosts)}", *(account.username for account in accounts)):
        CountedHasher.num_hashed = 0
        visitor().post(reverse("login"), {**wrong(known), "username": username})
        numbers.append(CountedHasher.num_hashed)
    assert numbers == [1] * 5


def test_a_link_of_the_command_line_gives_the_session_another_key_before_the_second_factor(
    bob: User, settings: Settings
) -> None:
    browser = Client()
    browser.force_login(bob)
    set_up(browser)
    client = Client()
    client.session.save()
    session = client.session
    session["planted"] = True
    session.save()
    client.cookies[settings.SESSION_COOKIE_NAME] = str(session.session_key)
    answer = client.post(f"/login/link/{make_sign_in_link(account=bob)}")
    assert answer.headers["Location"] == "/login/second-factor"
    assert client.session.session_key != session.session_key, "nobody who planted it may type codes"
