"""`manage.py backup` and `manage.py restore` as an administrator runs them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from gallery.models import Artifact
from runs.models import Run
from server import environment
from server.embedded.folders import runtime_folder
from server.embedded.local_servers import database_and_broker

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
ROOT = Path(__file__).resolve().parents[4]


def manage(*arguments: str | Path, **variables: str | Path) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "SECRET_KEY": os.environ["SECRET_KEY"]}
    environ |= {name: str(value) for name, value in variables.items()}
    command = [sys.executable, "manage.py", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True)


def test_an_installation_is_backed_up_while_it_serves_and_restored_into_an_empty_folder(
    run: Run, tmp_path: Path, artifact_folder: Path
) -> None:
    url = environment.embedded_database_url(environment.VAR, connection.settings_dict["NAME"])
    backup, restored = tmp_path / "backup", tmp_path / "restored"
    made = manage("backup", backup, DATABASE_URL=url, TANDEM_VAR=tmp_path, TANDEM_ARTIFACTS=f"file://{artifact_folder}")
    assert made.returncode == 0, made.stderr
    assert "3 artifacts" in made.stdout and "does not hold SECRET_KEY" in made.stdout
    try:
        loaded = manage("restore", backup, TANDEM_VAR=restored)
        assert loaded.returncode == 0, loaded.stderr
        assert "Everybody logs in again" in loaded.stdout
        refused = manage("restore", backup, TANDEM_VAR=restored)
        assert refused.returncode == 1 and "--replace" in refused.stderr
        with database_and_broker(restored):
            counted = manage(
                *("shell", "--no-imports", "--command"),
                "from gallery.models import Artifact; print(Artifact.objects.count())",
                TANDEM_VAR=restored,
            )
        assert counted.stdout.strip() == str(Artifact.objects.count()) == "3"
    finally:
        shutil.rmtree(runtime_folder(restored), ignore_errors=True)
    stored = {path.relative_to(restored / "artifacts") for path in (restored / "artifacts").rglob("*.png")}
    assert stored == {path.relative_to(artifact_folder) for path in artifact_folder.rglob("*.png")}
