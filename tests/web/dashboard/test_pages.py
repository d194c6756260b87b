"""Who sees which page, and what a shell holds before any script runs."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Project, User
from runs.models import Run

MakeRun = Callable[..., Run]

PAGES = [
    *("home", "runs", "new-run", "compare", "sweeps", "new-sweep", "prompt-sets", "projects"),
    *("pool", "occupancy", "lending", "usage", "audit"),
    *("account", "password"),
]


@pytest.fixture
def run(make_run: MakeRun, project: Project) -> Run:
    return make_run(project=project, name="the first run")


@pytest.mark.parametrize("page", PAGES)
def test_every_page_sends_strangers_to_the_login(db: None, client: Client, page: str) -> None:
    response = client.get(reverse(page))
    assert response.status_code == 302
    assert response.headers["Location"].startswith(reverse("login"))


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_for_a_member(client: Client, bob: User, page: str) -> None:
    client.force_login(bob)
    response = client.get(reverse(page))
    assert response.status_code == 200
    assert b"tandem/app.js" in response.content


def test_a_run_page_names_the_run_for_its_script(client: Client, bob: User, run: Run) -> None:
    client.force_login(bob)
    content = client.get(reverse("run", args=[run.pk])).content.decode()
    assert f'data-run="{run.pk}"' in content
    assert "the first run" in content


def test_to_an_outsider_a_run_does_not_exist(client: Client, charlie: User, run: Run) -> None:
    client.force_login(charlie)
    for address in (
        reverse("run", args=[run.pk]),
        f"{reverse('new-run')}?from={run.pk}",
        f"{reverse('compare')}?runs={run.pk}",
    ):
        assert client.get(address).status_code == 404


@pytest.mark.parametrize("nonsense", ["not-an-id", "00000000-0000-4000-8000-000000000000"])
def test_ids_that_name_nothing_are_not_found(client: Client, bob: User, nonsense: str) -> None:
    client.force_login(bob)
    assert client.get(f"{reverse('new-run')}?from={nonsense}").status_code == 404
    assert client.get(f"{reverse('compare')}?runs={nonsense}").status_code == 404


def test_a_name_with_markup_is_shown_as_text(client: Client, bob: User, make_run: MakeRun, project: Project) -> None:
    run = make_run(project=project, name="<script>alert(1)</script>")
    client.force_login(bob)
    assert b"<script>alert" not in client.get(reverse("run", args=[run.pk])).content


@pytest.mark.parametrize("page", [*PAGES, "login"])
def test_no_page_needs_an_inline_script(client: Client, bob: User, page: str) -> None:
    """The content security policy allows scripts from our own files alone."""
    if page != "login":
        client.force_login(bob)
    content = client.get(reverse(page)).content.decode()
    assert content.count("<script") == content.count('<script src="') + content.count('<script type="module" src="')
    assert " onclick=" not in content


@pytest.mark.parametrize("page", PAGES[:-1])
def test_pages_are_only_read(client: Client, bob: User, page: str) -> None:
    client.force_login(bob)
    assert client.post(reverse(page)).status_code == 405
