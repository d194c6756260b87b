"""Sweeps by `tandem.Client` and by `tandem sweep`, against the real application."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from accounts.models import Project, User
from runs.models import Sweep
from sweeps.advance import advance_all
from tandem import Conflict, Invalid, NotFound
from tandem.cli.invocation import Invocation
from tandem.cli.main import app
from tandem.synchronous.client import Client
from tests.client.conftest import ADDRESS, OverWsgi
from tests.web.sweeps.swept_runs import plan, runs_of, train

pytestmark = pytest.mark.django_db
RATE = "optimizer.learning_rate"


def test_a_sweep_is_made_of_a_file_read_waited_for_and_deleted(
    client: Client, project: Project, tmp_path: Path
) -> None:
    (tmp_path / "rates.yaml").write_text(yaml.safe_dump(plan()))
    made = client.sweeps.create(tmp_path / "rates.yaml", project="Shapes")
    assert (made.state, made.num_runs, made.best) == ("running", 4, None)
    advance_all()
    for run, reward in zip(runs_of(Sweep.objects.get()), [0.1, 0.4, 0.3, 0.2], strict=True):
        train(run, {10: reward}, ends="completed")
    with pytest.raises(TimeoutError, match="is running after 0"):
        made.wait(timeout=0)
    advance_all()
    ended = made.wait()
    assert ended.best is not None
    assert (ended.best.number, ended.best.values[RATE]) == (2, 2e-4)
    assert [sweep.id for sweep in client.sweeps.list(project="Shapes", state="completed")] == [made.id]
    with pytest.raises(Conflict, match="while the sweep is completed"):
        ended.stop()
    ended.delete()
    with pytest.raises(NotFound, match="no sweep named 'rates'"):
        client.sweeps.get("rates")


def test_a_refused_sweep_says_every_error_by_field(client: Client, project: Project) -> None:
    with pytest.raises(Invalid) as refused:
        client.sweeps.create(plan(num_seeds=0, max_parallel_runs=100))
    assert set(refused.value.errors) == {"sweep.num_seeds", "sweep.max_parallel_runs"}


def test_the_command_line_makes_lists_shows_and_stops_sweeps(
    alice: User, project: Project, token_of: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TANDEM_URL", ADDRESS)
    monkeypatch.setenv("TANDEM_TOKEN", token_of(alice))
    file = tmp_path / "rates.yaml"
    file.write_text(yaml.safe_dump(plan(num_seeds=2, budget_gpu_hours=3)))

    def tandem(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["sweep", *arguments], obj=Invocation(transport=OverWsgi()))

    assert "8 runs on 320 samples" in tandem("create", "-f", str(file), "--dry-run").stdout
    assert not Sweep.objects.exists()
    assert tandem("create", "-f", str(file)).stdout.startswith("rates: 4 points, 8 runs: ")
    advance_all()
    for run, reward in zip(runs_of(Sweep.objects.get())[2:], [0.4, 0.5], strict=False):
        train(run, {10: reward})
    assert [line.split()[:10] for line in tandem("list").stdout.splitlines()[1:]] == [
        ["rates", "running", "4", "0/8", "0", "0.45", "at", "2", "0", "of"]
    ]
    shown = tandem("show", "rates").stdout
    assert re.search(r"^best +0.45, point 2$", shown, re.MULTILINE)
    first = shown.partition("point  ")[2].splitlines()[1].split()
    assert first[:4] == ["2", "0.0002", "running", "0.45"]
    assert "0.4 to 0.5" in shown
    assert "is stopping" in tandem("stop", "rates").stdout
    assert json.loads(tandem("show", "rates", "--json").stdout)["reason"] == "alice stopped it"
    refused = tandem("delete", "rates")
    assert (refused.exit_code, "wait until its runs have ended" in refused.stderr) == (5, True)
