"""Runs, as operations name them."""

from accounts.models import User
from operations.operation_body import OperationTarget
from runs.models import Run

NOT_READ_OF_RUNS = tuple(f"run__{name}" for name in ("prompts", "spec", "algebra", "notes", "failure"))
"""What can be large, and no operation shows."""


def run_target(run: Run) -> OperationTarget:
    return {"type": "run", "id": str(run.pk), "name": run.name, "link": f"/api/v1/runs/{run.pk}"}


def name_of(account: User | None) -> str | None:
    return None if account is None else account.username
