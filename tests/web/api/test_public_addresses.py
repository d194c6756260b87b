"""Links to further pages lead to the public URL, whatever Host a request names."""

from pathlib import Path

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import Project
from runs.models import Run
from tests.web.conftest import MakeRun

PLATFORM = Path(__file__).resolve().parents[3] / "platform"
PUBLIC = "https://tandem.example.org/team"


@pytest.fixture
def run(project: Project, make_run: MakeRun) -> Run:
    make_run(project)
    return make_run(project)


@pytest.mark.parametrize("address", ["runs?limit=1", "runs/{run}/events?limit=1", "runs/{run}/logs?limit=1"], ids=str)
def test_a_further_page_is_below_the_public_url(api: APIClient, run: Run, settings: Settings, address: str) -> None:
    settings.TANDEM_PUBLIC_URL = PUBLIC
    settings.ALLOWED_HOSTS = ["*"]
    api.post(f"/api/v1/runs/{run.pk}/actions", {"action": "cancel"}, format="json")
    following = api.get(f"/api/v1/{address.format(run=run.pk)}", HTTP_HOST="evil.example.net").json()["next"]
    assert following.startswith(f"{PUBLIC}/api/v1/")


def test_no_answer_is_built_from_the_host_of_a_request() -> None:
    built = [path.name for path in PLATFORM.rglob("*.py") if "build_absolute_uri" in path.read_text()]
    assert built == []
