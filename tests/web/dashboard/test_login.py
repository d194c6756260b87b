"""Logging in and out with the account's password."""

from django.test import Client
from django.urls import reverse

from accounts.models import User


def test_the_right_password_opens_the_page_asked_for(client: Client, bob: User) -> None:
    form = {"username": "bob", "password": "correct horse", "next": reverse("pool")}
    response = client.post(reverse("login"), form)
    assert response.status_code == 302
    assert response.headers["Location"] == reverse("pool")


def test_a_wrong_password_is_refused_in_words(client: Client, bob: User) -> None:
    response = client.post(reverse("login"), {"username": "bob", "password": "battery staple"})
    assert response.status_code == 200
    assert b'role="alert"' in response.content
    assert "_auth_user_id" not in client.session


def test_login_never_sends_anyone_to_a_foreign_address(client: Client, bob: User) -> None:
    form = {"username": "bob", "password": "correct horse", "next": "https://example.com/"}
    assert client.post(reverse("login"), form).headers["Location"] == "/"


def test_logging_out_takes_a_post(client: Client, bob: User) -> None:
    client.force_login(bob)
    assert client.get(reverse("logout")).status_code == 405
    client.post(reverse("logout"))
    assert client.get(reverse("runs")).status_code == 302


def test_a_form_without_its_token_is_refused(bob: User) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post(reverse("login"), {"username": "bob", "password": "correct horse"}).status_code == 403
