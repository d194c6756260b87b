"""alice owns the project, bob edits in it, charlie is an outsider. Factories for what every web test needs."""

import itertools
from collections.abc import Callable
from typing import Any

import django
import pytest

django.setup()

from accounts.models import Membership, Project, ProjectRole, User  # noqa: E402
from runs.models import Run, RunStream  # noqa: E402
from runs.planning.cost_history import workload_of  # noqa: E402
from worker.contracts.prompts import dump_prompts  # noqa: E402
from worker.contracts.run_spec import RunSpec  # noqa: E402
from worker.contracts.states import RunState  # noqa: E402

PROMPTS = ["a red square", "a blue circle", "a green triangle"]
_numbers = itertools.count(1)

MakeUser = Callable[..., User]
MakeProject = Callable[..., Project]
MakeRun = Callable[..., Run]


def small_spec(**sections: Any) -> RunSpec:
    """A valid spec: 2 prompts × 2 members, 2 batches, one lane of each role. `sections` replace whole sections."""
    document: dict[str, Any] = {
        "prompts": {"inline": PROMPTS},
        "rewards": [{"name": "shape_match"}],
        "batch": {"num_prompts_per_batch": 2, "group_size": 2},
        "num_batches": 2,
        **sections,
    }
    return RunSpec.model_validate(document)


@pytest.fixture
def make_spec() -> Callable[..., RunSpec]:
    return small_spec


@pytest.fixture
def make_user(db: None) -> MakeUser:
    def make(username: str = "", **fields: Any) -> User:
        return User.objects.create_user(username or f"user-{next(_numbers)}", password="correct horse", **fields)

    return make


@pytest.fixture
def make_project(make_user: MakeUser) -> MakeProject:
    def make(name: str = "Shapes", owner: User | None = None) -> Project:
        project = Project.objects.create(name=name, slug=f"project-{next(_numbers)}")
        Membership.objects.create(project=project, user=owner or make_user(), role=ProjectRole.OWNER)
        return project

    return make


@pytest.fixture
def make_run(make_project: MakeProject) -> MakeRun:
    def make(project: Project | None = None, spec: RunSpec | None = None, **fields: Any) -> Run:
        """A run's row as it stands in the given state, without its history."""
        chosen = spec or small_spec()
        values: dict[str, Any] = {
            "name": f"run-{next(_numbers)}",
            "state": RunState.QUEUED.value,
            "prompts": dump_prompts(chosen.prompts.inline),
            **fields,
        }
        run = Run.objects.create(
            project=project or make_project(),
            spec=chosen.model_dump(mode="json"),
            algebra=chosen.algebra.model_dump(mode="json"),
            num_batches=chosen.num_batches,
            max_attempts=chosen.max_attempts,
            priority=chosen.priority.rank,
            pool=chosen.lanes.pool,
            workload=workload_of(chosen),
            **values,
        )
        RunStream.objects.create(run=run)
        return run

    return make


@pytest.fixture
def alice(make_user: MakeUser) -> User:
    return make_user("alice")


@pytest.fixture
def project(make_project: MakeProject, alice: User) -> Project:
    return make_project("Shapes", owner=alice)


@pytest.fixture
def bob(make_user: MakeUser, project: Project) -> User:
    user = make_user("bob")
    Membership.objects.create(project=project, user=user, role=ProjectRole.EDITOR)
    return user


@pytest.fixture
def viewer(make_user: MakeUser, project: Project) -> User:
    user = make_user("vera")
    Membership.objects.create(project=project, user=user, role=ProjectRole.VIEWER)
    return user


@pytest.fixture
def admin(make_user: MakeUser) -> User:
    """A pool admin, of no project."""
    return make_user("pool-admin", is_pool_admin=True)


@pytest.fixture
def charlie(make_user: MakeUser) -> User:
    return make_user("charlie")
