"""Retention by `tandem.Client` and by `tandem retention`, against the real application."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from accounts.models import User
from retention.deletion_rounds import carry_out
from tandem import Conflict, Forbidden
from tandem.cli.invocation import Invocation
from tandem.cli.main import app
from tandem.synchronous.client import Client
from telemetry.models import SpanRow
from tests.client.conftest import ADDRESS, OverWsgi
from tests.web.retention.conftest import EndedRun, ended_run, kept_for_a_week  # noqa: F401

pytestmark = pytest.mark.django_db


@pytest.fixture
def of_admin(admin: User, token_of: Callable[..., str]) -> Iterator[Client]:
    with Client(ADDRESS, token_of(admin), transport=OverWsgi()) as made:
        yield made


def test_a_deletion_names_the_preview_and_is_waited_for(of_admin: Client, client: Client, ended_run: EndedRun) -> None:  # noqa: F811
    run = ended_run()
    assert [kind.days for kind in of_admin.retention.policy().kinds] == [7] * 4
    shown = of_admin.retention.preview()
    assert {share.run_name for share in shown.shares} == {run.name}
    operation = of_admin.retention.delete(shown.id)
    with pytest.raises(Conflict, match="another deletion is under way"):
        of_admin.retention.delete(of_admin.retention.preview().id)
    carry_out()
    assert operation.wait().state == "succeeded" and of_admin.retention.preview().shares == []
    with pytest.raises(Forbidden):
        client.retention.preview()


def test_the_command_line_shows_previews_and_deletes(
    admin: User,
    token_of: Callable[..., str],
    ended_run: EndedRun,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = ended_run()
    monkeypatch.setenv("TANDEM_URL", ADDRESS)
    monkeypatch.setenv("TANDEM_TOKEN", token_of(admin))

    def tandem(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["retention", *arguments], obj=Invocation(transport=OverWsgi()))

    assert "7 days" in tandem("show").stdout
    told = tandem("preview").stdout
    assert run.name in told and SpanRow.objects.filter(kind="train").exists()
    named: Any = told.splitlines()[-1].rpartition(" ")[2]
    deleted = tandem("delete", named)
    assert deleted.stdout == f"retention-{named} is waiting.\n"
    carry_out()
    assert not SpanRow.objects.filter(kind="train").exists()
    assert json.loads(tandem("preview", "--json").stdout)["shares"] == []
    assert "Nothing is past its days." in tandem("preview").stdout
