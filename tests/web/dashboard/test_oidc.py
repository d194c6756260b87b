"""Signing in at a provider of OpenID Connect: a real one on a port, the whole code flow, and every forgery refused."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import rsa
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from accounts.sign_in.provider_requests import guarded
from audit.models import AuditEntry
from tests.web.dashboard.authenticator_app import set_up
from tests.web.dashboard.oidc_browser import BEGIN, at_the_provider, is_linked, name_of, sign_in
from tests.web.dashboard.openid_provider import SECRET_FILE, Claims, OpenIdProvider

pytestmark = pytest.mark.django_db
MakeUser = Callable[..., User]
Configure = Callable[..., None]


def verified(email: str) -> Claims:
    return {"email": email, "email_verified": True}


def test_a_newcomer_signs_in_and_gets_an_account_without_rights(provider: OpenIdProvider) -> None:
    """Were it the first: the administrator of an installation is made on its server."""
    assert User.objects.count() == 0
    client, answer = sign_in(address="/login/oidc/begin?next=/pool")
    assert answer.headers["Location"] == "/pool"
    erin = User.objects.get()
    assert (erin.username, erin.email) == ("erin", ""), "an address that is not verified is not theirs"
    assert not (erin.is_superuser or erin.is_staff or erin.is_pool_admin or erin.has_usable_password())
    assert name_of(client) == "erin"
    assert list(AuditEntry.objects.order_by("pk").values_list("action", flat=True)) == ["user.create", "user.sign_in"]
    assert AuditEntry.objects.get(action="user.sign_in").changes["by"] == ["socialaccount"]


def test_a_secret_that_vanished_is_a_page_that_says_what_to_do(
    provider: OpenIdProvider, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client = Client()
    back = at_the_provider(client)
    (tmp_path / SECRET_FILE).unlink()
    for address in (BEGIN, back):
        answer = client.get(address)
        assert answer.status_code == 503 and b"Tell an administrator" in answer.content
    assert str(tmp_path / SECRET_FILE) in caplog.text, "in the log, and on no page"
    assert client.get("/login").status_code == 200, "others may log in by password"


def test_who_comes_again_is_known_by_the_subject_alone(provider: OpenIdProvider) -> None:
    sign_in()
    provider.person = {**provider.person, "preferred_username": "erin-married", **verified("new@example.org")}
    client, _ = sign_in()
    assert name_of(client) == "erin"
    provider.person = {**provider.person, "sub": "another", "preferred_username": "erin"}
    client, _ = sign_in()
    assert name_of(client) not in (None, "erin"), "a name is not an identity"


def test_the_session_gets_another_key_and_ends_after_a_day_of_work(
    provider: OpenIdProvider, settings: Settings
) -> None:
    client = Client()
    back = at_the_provider(client)
    before = client.session.session_key
    client.get(back)
    assert client.session.session_key != before
    assert 11.9 * 3600 < client.session.get_expiry_age() <= 12 * 3600


@pytest.mark.parametrize(
    "changed",
    [
        {"nonce": "of another sign-in"},
        {"nonce": None},
        {"iss": "https://accounts.example.com"},
        {"aud": "another client"},
        {"aud": ["tandem", "another"], "azp": "another"},
        {"exp": int(time.time()) - 60},
        {"iat": int(time.time()) + 3600},
        {"exp": None},
        {"sub": "somebody else"},
    ],
    ids=lambda changed: "-".join(changed),
)
def test_an_id_token_of_something_else_is_refused(provider: OpenIdProvider, changed: Claims) -> None:
    provider.forge = lambda claims: {name: value for name, value in (claims | changed).items() if value is not None}
    client, answer = sign_in()
    assert answer.status_code == 403 and b"Signing in by Example failed" in answer.content
    assert name_of(client) is None and not User.objects.exists()
    assert AuditEntry.objects.get().action == "user.sign_in_refused"


@pytest.mark.parametrize("algorithm", ["HS256", "none", "RS256"])
def test_an_id_token_that_the_provider_did_not_sign_is_refused(provider: OpenIdProvider, algorithm: str) -> None:
    provider.algorithm = algorithm
    provider.signing = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    client, answer = sign_in()
    assert (answer.status_code, name_of(client)) == (403, None)


def test_an_answer_to_a_sign_in_that_this_browser_did_not_begin_is_refused(provider: OpenIdProvider) -> None:
    """Else somebody could sign others in as themselves."""
    back = at_the_provider(Client())
    victim = Client()
    assert victim.get(back).status_code == 403
    begun = Client()
    at_the_provider(begun)
    assert begun.get(f"{back.partition('state=')[0]}state=guessed").status_code == 403
    assert name_of(victim) is None and name_of(begun) is None


def test_an_answer_opens_once(provider: OpenIdProvider) -> None:
    client = Client()
    back = at_the_provider(client)
    client.get(back)
    client.post("/logout")
    assert client.get(back).status_code == 403
    assert name_of(client) is None


def test_a_discovery_document_of_another_issuer_is_refused(provider: OpenIdProvider) -> None:
    provider.discovery = {"issuer": "https://accounts.example.com"}
    answer = Client().get(BEGIN)
    assert answer.status_code == 403
    why = AuditEntry.objects.get().changes["why"]
    assert why == f"its discovery document is that of https://accounts.example.com, not of {provider.issuer}"


def test_a_provider_that_does_not_answer_is_a_page_not_a_traceback(configure: Configure) -> None:
    configure(issuer="http://127.0.0.1:1")
    assert Client().get(BEGIN).status_code == 403


def test_who_cancels_is_told_so(provider: OpenIdProvider) -> None:
    client = Client()
    state = at_the_provider(client).partition("state=")[2]
    answer = client.get(f"/login/oidc/callback?error=access_denied&state={state}")
    assert b"You did not sign in at Example" in answer.content


@pytest.mark.parametrize("foreign", ["https://example.com/", "//example.com"])
def test_the_provider_sends_nobody_to_a_foreign_address(provider: OpenIdProvider, foreign: str) -> None:
    assert sign_in(address=f"/login/oidc/begin?next={foreign}")[1].headers["Location"] == "/"


def test_another_site_cannot_begin_a_sign_in(provider: OpenIdProvider) -> None:
    answer = Client().get(BEGIN, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.headers["Location"] == "/login"


def test_an_address_that_begins_again_and_again_is_told_to_wait(provider: OpenIdProvider, settings: Settings) -> None:
    """Each time the provider is asked."""
    settings.ACCOUNT_RATE_LIMITS = {"login": "1/m/ip"}
    answers = [Client(REMOTE_ADDR="198.51.100.7").get(BEGIN) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [302, 429]


def test_without_a_provider_there_is_no_button_and_no_address(client: Client) -> None:
    assert BEGIN.encode() not in client.get("/login").content
    assert client.get(BEGIN).status_code == client.get("/login/oidc/callback").status_code == 404


@pytest.mark.parametrize("claim", [False, None, "false"])
def test_an_address_that_is_not_verified_takes_no_account(
    provider: OpenIdProvider, configure: Configure, make_user: MakeUser, claim: Any
) -> None:
    configure(link_by_email=True)
    alice = make_user("alice", email="alice@example.org")
    provider.person = {**provider.person, "email": "alice@example.org", "email_verified": claim}
    client, _ = sign_in()
    assert name_of(client) == "erin"
    assert not is_linked(alice)


def test_a_verified_address_takes_no_account_unless_an_admin_allows_it(
    provider: OpenIdProvider, configure: Configure, make_user: MakeUser
) -> None:
    alice = make_user("alice", email="Alice@Example.org")
    provider.person = {**provider.person, **verified("alice@example.org")}
    client, answer = sign_in()
    assert answer.status_code == 403 and b"There is an account with the address" in answer.content
    assert name_of(client) is None and User.objects.count() == 1
    configure(link_by_email=True)
    client, _ = sign_in()
    assert name_of(client) == "alice"
    alice.refresh_from_db()
    assert alice.check_password("correct horse"), "the password stays"
    assert AuditEntry.objects.get(action="user.link_provider").object_name == "alice"


def test_an_address_of_two_accounts_links_none(
    provider: OpenIdProvider, configure: Configure, make_user: MakeUser
) -> None:
    configure(link_by_email=True)
    for _ in range(2):
        make_user(email="shared@example.org")
    provider.person = {**provider.person, **verified("shared@example.org")}
    assert sign_in()[1].status_code == 403


def test_addresses_of_an_own_domain_may_count_as_verified(
    provider: OpenIdProvider, configure: Configure, make_user: MakeUser
) -> None:
    """Entra ID does not say which are."""
    configure(link_by_email=True, trusted_email_domains=["Example.org"])
    make_user("alice", email="alice@example.org")
    provider.person = {**provider.person, "email": "alice@example.org"}
    assert name_of(sign_in()[0]) == "alice"


def test_who_is_logged_in_links_the_provider_after_the_password(provider: OpenIdProvider, make_user: MakeUser) -> None:
    alice, client = make_user("alice"), Client()
    client.force_login(alice)
    _, answer = sign_in(client, "/login/oidc/begin?link")
    assert answer.headers["Location"] == "/account/confirm/password"
    done = client.post("/account/confirm/password", {"password": "correct horse"})
    assert done.headers["Location"] == "/account"
    assert name_of(sign_in()[0]) == "alice"
    assert User.objects.count() == 1


def test_a_second_factor_that_somebody_has_is_asked_for_after_the_provider_and_required_of_nobody_there(
    provider: OpenIdProvider, settings: Settings
) -> None:
    settings.TANDEM_SECOND_FACTOR = "everyone"
    client, _ = sign_in()
    assert name_of(client) == "erin", "the provider asks what it asks"
    _, codes = set_up(client)
    client = Client()
    back = at_the_provider(client, "/login/oidc/begin?next=/pool")
    before = client.session.session_key
    answer = client.get(back)
    assert answer.headers["Location"] == "/login/second-factor" and name_of(client) is None
    assert client.session.session_key != before, "nobody who planted it may type codes"
    assert client.post("/login/second-factor", {"code": codes[0]}).headers["Location"] == "/pool"
    assert name_of(client) == "erin"
    assert AuditEntry.objects.filter(action="user.sign_in")[0].changes["by"] == ["socialaccount", "mfa"]
    assert client.session.get_expiry_age() <= 12 * 3600


def test_an_account_that_is_switched_off_stays_so(provider: OpenIdProvider) -> None:
    sign_in()
    User.objects.update(is_active=False)
    client, answer = sign_in()
    assert answer.headers["Location"] == "/login/inactive" and name_of(client) is None


def test_only_the_groups_that_are_asked_for_come_in(provider: OpenIdProvider, configure: Configure) -> None:
    configure(required_groups=["research", "ops"])
    provider.person = {**provider.person, "groups": ["sales"]}
    assert sign_in()[1].status_code == 403 and not User.objects.exists()
    provider.person = {**provider.person, "groups": ["sales", "ops"]}
    assert name_of(sign_in()[0]) == "erin"


def test_where_passwords_open_nothing_a_link_of_the_command_line_does_once(
    provider: OpenIdProvider, settings: Settings, make_user: MakeUser, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.TANDEM_OIDC_ONLY = True
    make_user("root", is_superuser=True)
    page = Client().get("/login").content
    assert b"Log in by Example" in page and b'name="password"' not in page
    assert Client().post("/login", {"username": "root", "password": "correct horse"}).status_code == 403
    call_command("sign_in_link", "root")
    link = capsys.readouterr().out.split()[-1].removeprefix(settings.TANDEM_PUBLIC_URL)
    client = Client()
    assert b"logs you in as <b>root</b>" in client.get(link).content
    assert name_of(client) is None, "looking at it signs nobody in"
    client.post(link)
    assert name_of(client) == "root"
    assert Client().post(link).status_code == Client().get(link).status_code == 403
    actions = list(AuditEntry.objects.order_by("pk").values_list("action", "actor"))
    assert actions == [("user.make_sign_in_link", "manage.py sign_in_link"), ("user.sign_in", "root")]
    with pytest.raises(CommandError, match="no active user"):
        call_command("sign_in_link", "nobody")


@pytest.mark.parametrize("endpoint", ["jwks_uri", "token_endpoint", "userinfo_endpoint"])
def test_a_discovery_document_leads_to_no_private_machine_but_the_issuers(
    provider: OpenIdProvider, endpoint: str
) -> None:
    provider.discovery = {endpoint: f"{provider.issuer.replace('127.0.0.1', 'localhost')}/jwks"}
    client, answer = sign_in()
    assert answer.status_code == 403 and name_of(client) is None
    assert "which is not public" in AuditEntry.objects.get().changes["why"]


def test_a_redirect_of_the_provider_is_not_followed(provider: OpenIdProvider) -> None:
    asked = "response_type=code&client_id=tandem&code_challenge_method=S256&redirect_uri=/jwks&state=x"
    with pytest.raises(requests.TooManyRedirects):
        guarded(requests.Session()).get(f"{provider.issuer}/authorize?{asked}", timeout=5)
