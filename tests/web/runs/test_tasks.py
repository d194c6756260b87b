"""The tasks are thin: what matters is that each exists under its contract name and calls its service."""

import ast
import uuid
from pathlib import Path
from types import ModuleType

import pytest
from pytest_django.fixtures import Settings

from fleet.lane_layout import ensure_local_lanes
from gallery import tasks as gallery_tasks
from runs import tasks as run_tasks
from runs.checkpoint_files import checkpoints_url
from server.celery_app import app
from worker.contracts import task_names

NAMES = [str(name) for name in vars(task_names).values() if str(name).startswith("tandem.")]
MAX_TASK_LINES = 15


@pytest.mark.parametrize("name", NAMES)
def test_every_task_of_the_contract_is_registered(name: str) -> None:
    app.loader.import_default_modules()
    assert name in app.tasks


@pytest.mark.parametrize(("module", "prefix"), [(run_tasks, "tandem.runs."), (gallery_tasks, "tandem.gallery.")])
def test_tasks_are_thin(module: ModuleType, prefix: str) -> None:
    tree = ast.parse(Path(str(module.__file__)).read_text())
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len(functions) == len([name for name in NAMES if name.startswith(prefix)])
    assert all((node.end_lineno or 0) - node.lineno < MAX_TASK_LINES for node in functions)


@pytest.mark.django_db
def test_dispatching_starts_waiting_runs() -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    assert run_tasks.dispatch_runs() == 0


@pytest.mark.django_db
def test_launching_a_run_that_is_gone_does_nothing() -> None:
    assert run_tasks.launch_run(str(uuid.uuid4()), 1) is False


@pytest.mark.django_db
def test_deleting_a_runs_files_leaves_other_runs_alone_and_may_be_repeated(settings: Settings, tmp_path: Path) -> None:
    settings.TANDEM_CHECKPOINTS = f"file://{tmp_path}/checkpoints"
    settings.TANDEM_ARTIFACTS = f"file://{tmp_path}/artifacts"
    gone, other = uuid.uuid4(), uuid.uuid4()
    for run_id in (gone, other):
        folder = Path(checkpoints_url(run_id, 1).removeprefix("file://")) / "batch-2"
        folder.mkdir(parents=True)
        (folder / "adapter.safetensors").write_bytes(b"x")
    for _ in range(2):
        run_tasks.delete_checkpoints(str(gone))
        gallery_tasks.delete_artifacts(str(gone))
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == [str(other)]
