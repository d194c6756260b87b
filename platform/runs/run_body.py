"""A run as plain JSON, as REST, the websocket's snapshot and the runs list send it.

The typed dictionaries define the JSON: mypy checks the functions below against them, and the schema is made from them.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import with_config
from typing_extensions import TypedDict

from accounts.models import ProjectRole
from runs.models import Run, RunLogEntry, RunTransition
from worker.contracts.algebra import BatchAlgebra
from worker.contracts.base import JsonOf
from worker.contracts.commands import CommandKind
from worker.contracts.run_spec import RunSpec
from worker.contracts.states import Phase, RunState

IsoTime = Annotated[str, JsonOf(datetime)]
StateJson = Annotated[str, JsonOf(RunState)]


@with_config(use_attribute_docstrings=True)
class Headline(TypedDict, total=False):
    """Held-out evaluation at the run's beginning and now; values that were not evaluated yet are absent. A run begins
    with the untrained policy, a fork with that of its checkpoint."""

    reward_before: float | None
    """Weighted held-out reward at the beginning."""
    reward_after: float | None
    """Weighted held-out reward of the newest evaluation."""
    before: dict[str, float]
    """All held-out means at the beginning, by reward."""
    after: dict[str, float]
    """All held-out means of the newest evaluation, by reward."""
    batch_after: int
    """Complete batches before the newest evaluation."""
    num_samples: int
    """Samples of the first evaluation."""


@with_config(use_attribute_docstrings=True)
class Failure(TypedDict):
    """Why a run failed, and what to try; `runs.attempts.failure` finds it."""

    reason: str
    """One sentence with the field, the value and what to do."""
    phase: Annotated[str, JsonOf(Phase | Literal[""])]
    """What the driver was doing when it failed; empty if unknown."""
    details: str
    """The end of the traceback, or of what the driver reported."""
    log_tail: str
    """The last log lines of the driver's job."""
    suggestions: list[str]


@with_config(use_attribute_docstrings=True)
class RunProject(TypedDict):
    id: str
    name: str
    role: Annotated[str | None, JsonOf(ProjectRole | None)]
    """The reader's role in the project; null for one who is no member."""


@with_config(use_attribute_docstrings=True)
class RunSweep(TypedDict):
    """The sweep that made a run, and the run's place in it."""

    id: str
    name: str
    point: int
    """Number of the point, from 1."""
    seed: int


@with_config(use_attribute_docstrings=True)
class RunRow(TypedDict):
    """A line of the runs list."""

    id: str
    name: str
    state: StateJson
    state_changed_at: IsoTime
    phase: Annotated[str, JsonOf(Phase | Literal[""])]
    """What the driver is doing; empty before its first report."""
    attempt: int
    """Number of the newest attempt; 0 before the first."""
    num_batches: int
    num_batches_done: int
    policy_version: int
    headline: Headline
    created_at: IsoTime
    started_at: IsoTime | None
    ended_at: IsoTime | None
    tags: list[str]
    archived_at: IsoTime | None


@with_config(use_attribute_docstrings=True)
class ListedRun(RunRow):
    """A line of the runs list, as one reader may see it."""

    project: RunProject
    created_by: str | None
    """Name of the user; null for an account that was deleted."""
    legal_actions: list[Annotated[str, JsonOf(CommandKind)]]
    waiting: str
    """What a queued run waits for, in one sentence; empty for any other."""
    warning: str
    """What is amiss with a run that works, in one sentence: GPUs that do nothing. Empty for nothing."""
    sweep: RunSweep | None
    """The sweep that made the run; null for any other, and once the sweep was deleted."""


@with_config(use_attribute_docstrings=True)
class RunBody(ListedRun):
    """A run in full, as one reader may see it."""

    max_attempts: int
    spec: Annotated[dict[str, Any], JsonOf(RunSpec)]
    algebra: Annotated[dict[str, Any], JsonOf(BatchAlgebra)]
    algebra_text: str
    num_prompts: int
    last_heartbeat_at: IsoTime | None
    failure: Failure | None
    notes: str
    parent: str | None
    """Id of the run that this one was duplicated or forked from."""
    forked_batch: int | None
    """Complete batches of the parent's checkpoint that the run began from; null for one from the base model."""
    forked_from: str
    """Address of that checkpoint; empty for a run from the base model."""
    resume_batch: int | None
    """Complete batches of the checkpoint from which the next attempt resumes; null without one."""
    ending: Annotated[str | None, JsonOf(Literal["stop", "cancel"] | None)]
    """The end that a user requested, `stop` or `cancel`; null before."""


@with_config(use_attribute_docstrings=True)
class TransitionFields(TypedDict):
    old: Annotated[str, JsonOf(RunState | Literal[""])]
    """The state before; empty for the run's first."""
    new: StateJson
    reason: str
    actor: str
    """A user's name, or the part of Tandem that changed it."""


class TransitionItem(TypedDict):
    """A stream item of the web: a change of the run's state."""

    stream_seq: int
    type: Literal["transition"]
    at: float
    attempt: int
    body: TransitionFields


@with_config(use_attribute_docstrings=True)
class CommandFields(TypedDict):
    text: str
    """What was asked of the run, and by whom, in a sentence."""


class CommandItem(TypedDict):
    """A stream item of the web: a command that was given."""

    stream_seq: int
    type: Literal["command"]
    at: float
    attempt: int
    body: CommandFields


def run_row(run: Run) -> RunRow:
    """A line of the runs list."""
    return {
        "id": str(run.pk),
        "name": run.name,
        "state": run.state,
        "state_changed_at": run.state_changed_at.isoformat(),
        "phase": run.phase,
        "attempt": run.attempt,
        "num_batches": run.num_batches,
        "num_batches_done": run.num_batches_done,
        "policy_version": run.policy_version,
        "headline": run.headline,
        "created_at": run.created_at.isoformat(),
        "started_at": _iso(run.started_at),
        "ended_at": _iso(run.ended_at),
        "tags": run.tags,
        "archived_at": _iso(run.archived_at),
    }


def run_body(run: Run, line: ListedRun) -> RunBody:
    """The run in full for the reader of its line in the list (`runs.run_lines`)."""
    return {
        **line,
        "max_attempts": run.max_attempts,
        "spec": run.spec,
        "algebra": run.algebra,
        "algebra_text": run.batch_algebra.describe(),
        "num_prompts": run.num_prompts,
        "last_heartbeat_at": _iso(run.last_heartbeat_at),
        "failure": run.failure,
        "notes": run.notes,
        "parent": None if run.parent_id is None else str(run.parent_id),
        "forked_batch": run.forked_batch,
        "forked_from": run.forked_from,
        "resume_batch": run.resume_batch if run.resume_from else None,
        "ending": run.ending or None,
    }


def transition_item(transition: RunTransition) -> TransitionItem:
    """A transition as an item of the run's stream, like any event of the driver."""
    return {
        "stream_seq": transition.stream_seq,
        "type": "transition",
        "at": transition.at.timestamp(),
        "attempt": transition.attempt,
        "body": {
            "old": transition.old,
            "new": transition.new,
            "reason": transition.reason,
            "actor": transition.actor,
        },
    }


def command_item(entry: RunLogEntry) -> CommandItem:
    """A command's entry in the log as an item of the run's stream."""
    return {
        "stream_seq": entry.stream_seq,
        "type": "command",
        "at": entry.at,
        "attempt": entry.attempt,
        "body": {"text": entry.text},
    }


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
