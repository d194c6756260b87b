"""Two providers of OpenID Connect beside each other: whose account it is, what each gives, and what ends with each."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User
from accounts.sign_in.provider_file import ProvidersInvalid, providers
from audit.models import AuditEntry
from tests.web.dashboard.authenticator_app import set_up
from tests.web.dashboard.oidc_browser import BEGIN, at_the_provider, is_linked, name_of, sign_in
from tests.web.dashboard.openid_provider import OpenIdProvider, entry_of

pytestmark = pytest.mark.django_db
Configure = Callable[..., None]
MakeUser = Callable[..., User]
BEGIN_AT_OTHER = "/login/other/begin"


@pytest.fixture
def both(provider: OpenIdProvider, other_provider: OpenIdProvider, make_user: MakeUser) -> User:
    """erin, with a password, whom both providers sign in."""
    erin = make_user("erin")
    for begin in (BEGIN, BEGIN_AT_OTHER):
        link(erin, begin)
    return erin


def link(user: User, begin: str) -> None:
    client = Client()
    client.force_login(user)
    sign_in(client, f"{begin}?link")
    client.post("/account/confirm/password", {"password": "correct horse"})


def unlink(user: User, provider_id: str, *, password: str = "correct horse") -> Any:
    client = Client()
    client.force_login(user)
    address = f"/account/providers/{provider_id}/unlink"
    client.post("/account/confirm/password", {"password": password, "next": "/account"})
    return client.post(address)


def test_each_has_its_button_and_its_row_on_the_account_page(
    provider: OpenIdProvider, other_provider: OpenIdProvider, make_user: MakeUser
) -> None:
    page = Client().get("/login?next=/pool").content.decode()
    for provider_id, name in (("oidc", "Example"), ("other", "Other")):
        assert f'href="/login/{provider_id}/begin?next=/pool">Log in by {name}<' in page
    erin, client = make_user("erin"), Client()
    link(erin, BEGIN_AT_OTHER)
    client.force_login(erin)
    page = client.get("/account").content.decode()
    assert 'href="/login/oidc/begin?link"' in page and 'href="/account/providers/other/unlink"' in page
    assert "/account/providers/oidc/unlink" not in page and "/login/other/begin" not in page


def test_one_subject_at_two_providers_is_two_people(provider: OpenIdProvider, other_provider: OpenIdProvider) -> None:
    other_provider.person = provider.person
    first, second = sign_in()[0], sign_in(address=BEGIN_AT_OTHER)[0]
    assert name_of(first) == "erin" and name_of(second) not in (None, "erin")


def test_an_address_at_one_provider_takes_no_account_of_another(
    provider: OpenIdProvider, other_provider: OpenIdProvider, configure: Configure
) -> None:
    linking = entry_of(other_provider, "other", "Other") | {"link_by_email": True}
    configure(others=[linking])
    for each in (provider, other_provider):
        each.person = {**each.person, "email": "erin@example.org", "email_verified": True}
    assert name_of(sign_in()[0]) == "erin"
    client, answer = sign_in(address=BEGIN_AT_OTHER)
    assert answer.status_code == 403 and "then link Other on the page Account" in answer.content.decode()
    assert name_of(client) is None and SocialAccount.objects.count() == 1


def test_an_answer_of_another_provider_is_refused(provider: OpenIdProvider, other_provider: OpenIdProvider) -> None:
    """Else one that is dishonest could pass a code of an honest one as its own (mix-up, RFC 9207)."""
    client = Client()
    back = at_the_provider(client)
    assert client.get(back.replace("/login/oidc/", "/login/other/")).status_code == 403
    client = Client()
    back = at_the_provider(client)
    assert client.get(f"{back}&iss={other_provider.issuer}").status_code == 403
    assert AuditEntry.objects.latest("pk").changes["why"] == "another issuer answered"
    client = Client()
    client.get(f"{at_the_provider(client)}&iss={provider.issuer}")
    assert name_of(client) == "erin"


def test_what_each_providers_groups_give_is_kept_apart(
    both: User, provider: OpenIdProvider, other_provider: OpenIdProvider, configure: Configure
) -> None:
    at_other = entry_of(other_provider, "other", "Other") | {"group_roles": {"admins": ["root"]}}
    configure(others=[at_other], group_roles={"pool_admins": ["ops"]})

    def rights_after(begin: str) -> tuple[bool, bool]:
        sign_in(address=begin)
        both.refresh_from_db()
        return both.is_pool_admin, both.is_superuser

    provider.person, other_provider.person = (
        {**each.person, "groups": ["root", "ops", "staff"]} for each in (provider, other_provider)
    )
    assert rights_after(BEGIN) == (True, False), "a group's name says nothing at another provider"
    assert rights_after(BEGIN_AT_OTHER) == (True, True)
    assert rights_after(BEGIN) == (True, True)
    kept = SocialAccount.objects.get(provider="oidc").extra_data["groups"]
    assert kept == ["ops"], "no more than what decides anything"
    provider.person = {**provider.person, "groups": []}
    assert rights_after(BEGIN) == (False, True)

    unlink(both, "other")
    both.refresh_from_db()
    assert (is_linked(both, "other"), is_linked(both), both.is_superuser) == (False, True, False)


def test_groups_of_a_provider_that_somebody_avoids_end_with_its_session(
    both: User, provider: OpenIdProvider, other_provider: OpenIdProvider
) -> None:
    """Else who was put out of a group would keep its rights by signing in elsewhere."""
    other_provider.person = {**other_provider.person, "groups": ["root"]}
    sign_in(address=BEGIN_AT_OTHER)
    for hours, is_admin in ((11, True), (13, False)):
        SocialAccount.objects.filter(provider="other").update(last_login=timezone.now() - timedelta(hours=hours))
        sign_in()
        both.refresh_from_db()
        assert both.is_superuser is is_admin


def test_an_unlinked_provider_ends_the_sessions_that_began_there_and_no_others(
    both: User, provider: OpenIdProvider, other_provider: OpenIdProvider, make_user: MakeUser
) -> None:
    there, elsewhere, by_password, another = sign_in(address=BEGIN_AT_OTHER)[0], sign_in()[0], Client(), Client()
    by_password.post("/login", {"username": "erin", "password": "correct horse"})
    other_provider.person = {"sub": "f-2", "preferred_username": "frank"}
    sign_in(another, BEGIN_AT_OTHER)
    assert [name_of(each) for each in (there, elsewhere, by_password, another)] == ["erin"] * 3 + ["frank"]
    assert unlink(both, "other").headers["Location"] == "/account"
    assert [name_of(each) for each in (there, elsewhere, by_password, another)] == [None, "erin", "erin", "frank"]
    assert AuditEntry.objects.get(action="user.unlink_provider").changes["num_sessions_ended"] == 1


def test_who_unlinks_where_the_session_began_is_logged_out(both: User) -> None:
    client, _ = sign_in(address=BEGIN_AT_OTHER)
    client.post("/account/confirm/password", {"password": "correct horse", "next": "/account"})
    assert "this one, too" in client.get("/account/providers/other/unlink").content.decode()
    assert client.post("/account/providers/other/unlink").status_code == 302
    assert name_of(client) is None


def test_a_sign_in_that_waits_for_its_second_factor_ends_too(both: User) -> None:
    owner = Client()
    owner.force_login(both)
    owner.post("/account/confirm/password", {"password": "correct horse", "next": "/account"})
    _, codes = set_up(owner)
    waiting, answer = sign_in(address=BEGIN_AT_OTHER)
    assert answer.headers["Location"] == "/login/second-factor"
    owner.post("/account/providers/other/unlink")
    assert not is_linked(both, "other")
    waiting.post("/login/second-factor", {"code": codes[0]})
    assert name_of(waiting) is None


def test_the_last_way_in_stays(both: User, settings: Settings) -> None:
    settings.TANDEM_OIDC_ONLY = True
    assert unlink(both, "other").status_code == 302, "the other provider is left"
    refused = unlink(both, "oidc")
    assert refused.status_code == 409 and "link another provider first" in refused.content.decode()
    assert is_linked(both)


def test_a_provider_that_was_taken_out_opens_nothing(both: User, configure: Configure) -> None:
    configure()
    assert Client().get(BEGIN_AT_OTHER).status_code == 404
    User.objects.filter(pk=both.pk).update(password="!")
    refused = unlink(User.objects.get(pk=both.pk), "oidc")
    assert refused.status_code == 409, "the link with it is no way in"


def test_a_change_of_the_file_holds_at_once_and_a_broken_one_never(
    provider: OpenIdProvider, settings: Settings, tmp_path: Path
) -> None:
    file = Path(settings.TANDEM_OIDC_PROVIDERS)
    assert [each.name for each in providers()] == ["Example"]
    file.write_text(file.read_text().replace("Example", "Renamed"))
    assert [each.name for each in providers()] == ["Renamed"]
    file.write_text("half a fi")
    assert [each.name for each in providers()] == ["Renamed"]
    settings.TANDEM_OIDC_PROVIDERS = str(tmp_path / "none.yaml")
    with pytest.raises(ProvidersInvalid, match="cannot be read"):
        providers()
