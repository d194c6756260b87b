"""Operations by `tandem.Client` and by `tandem operations`, against the real application."""

import json
from collections.abc import Callable

import pytest
from typer.testing import CliRunner, Result

from accounts.models import User
from gallery.models import Preview
from gallery.previews import end
from runs.models import Run
from tandem import Conflict, NotFound, OperationFailed
from tandem.cli.invocation import Invocation
from tandem.cli.main import app
from tandem.synchronous.client import Client
from tests.client.conftest import ADDRESS, OverWsgi

pytestmark = pytest.mark.django_db


@pytest.fixture
def preview(client: Client, trained: Run) -> str:
    """The id of the operation of a preview that waits."""
    asked = client._session.post(f"/api/v1/runs/{trained.pk}/previews", {"prompts": ["a red circle"]})
    return str(asked["operation"])


def test_an_operation_is_listed_waited_for_and_cancelled(client: Client, trained: Run, preview: str) -> None:
    (found,) = client.operations.list(kind="preview", run=str(trained.pk), mine=True)
    assert (found.id, found.state, found.target.name, found.has_ended) == (preview, "waiting", trained.name, False)
    with pytest.raises(TimeoutError, match="is waiting after 0"):
        found.wait(timeout=0)
    cancelled = found.cancel()
    assert (cancelled.state, cancelled.detail) == ("cancelled", "alice cancelled it")
    with pytest.raises(OperationFailed, match="was cancelled: alice cancelled it"):
        cancelled.wait()
    assert cancelled.wait(check=False).state == "cancelled"
    with pytest.raises(Conflict, match="has ended already, as cancelled"):
        found.cancel()
    with pytest.raises(NotFound):
        client.operations.get("preview-of-nobody")


def test_the_command_line_lists_shows_waits_for_and_cancels(
    alice: User,
    trained: Run,
    preview: str,
    token_of: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TANDEM_URL", ADDRESS)
    monkeypatch.setenv("TANDEM_TOKEN", token_of(alice))

    def tandem(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["operations", *arguments], obj=Invocation(transport=OverWsgi()))

    (line,) = tandem("list", "--run", trained.name, "--state", "waiting,running").stdout.splitlines()[1:]
    assert line.split()[:4] == ["preview", "waiting", "0/8", "pictures"]
    assert f"preview of {trained.name}" in tandem("show", preview).stdout
    assert tandem("wait", preview, "--timeout", "0").exit_code == 1
    end(Preview.objects.get().pk, "out of memory")
    waited = tandem("wait", preview)
    assert (waited.exit_code, "has failed: out of memory" in waited.stderr) == (10, True)
    assert json.loads(tandem("show", preview, "--json").stdout)["problem"] == "out of memory"
    assert tandem("cancel", preview).exit_code == 5
