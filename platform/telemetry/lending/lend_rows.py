"""One row of the lending ledger: a lane that was lent, within a run or between runs, and what it brought."""

from enum import StrEnum
from typing import Annotated

from pydantic import with_config
from typing_extensions import TypedDict

from runs.run_body import IsoTime
from worker.contracts.base import JsonOf
from worker.contracts.names import LaneRole


class LendKind(StrEnum):
    BETWEEN_RUNS = "between_runs"
    """A lane of the pool, or of a project's guarantee, that a run had beyond its own."""
    WITHIN_RUN = "within_run"
    """A trainer lane of a run that generated for it."""


class LenderKind(StrEnum):
    POOL = "pool"
    """The lane was guaranteed to nobody."""
    PROJECT = "project"
    """A project was guaranteed the lane and did not use it."""
    RUN = "run"
    """The run's own trainer gang."""


@with_config(use_attribute_docstrings=True)
class Lend(TypedDict):
    """A lane lent from one time to another. What is not known, or not known yet, is null."""

    id: str
    kind: Annotated[str, JsonOf(LendKind)]
    lane: str
    """The lane's label in the pool; empty where no record says which lane it was."""
    lane_in_run: str
    """Its id within the borrowing run."""
    gpus: list[str]
    """Names of its GPUs; empty for a CPU slot."""
    role: Annotated[str, JsonOf(LaneRole)]
    """What it did for the borrower."""
    lender_kind: Annotated[str, JsonOf(LenderKind)]
    lender: str
    """Name of the lending project or run; empty for the pool."""
    lender_project: str | None
    run: str | None
    """The borrower; null for a run that you may not see."""
    run_name: str
    attempt: int
    project: str | None
    """The borrower's project; null where you may not see it."""
    begin: IsoTime
    end: IsoTime | None
    """Null while it is lent."""
    reason: str
    """Why it was lent."""
    end_reason: str
    """Why it ended, or is about to."""
    for_run: str | None
    """The run that it was asked back for."""
    for_run_name: str
    notice_at: IsoTime | None
    """When it was asked back; null if it was not."""
    bound_seconds: float | None
    """Seconds within which it had to be given back."""
    return_seconds: float | None
    """Seconds from the notice until it was free."""
    num_dropped: int
    """Fragments dropped at the bound, which others drew again from the same seeds."""
    switch_seconds: float | None
    """Seconds that the lane spent on joining and leaving, or on switching its role."""
    num_samples: int | None
    """Samples that it generated or scored for the borrower."""
    predicted_gain_seconds: float | None
    """Seconds by which the borrower was predicted to get ahead through this lane. Between runs: over the stay that was
    expected, net of switching."""
    least_gain_seconds: float | None
    """The threshold when it was lent: for less it would not have been. Null between runs, where a loan must save a
    share of each batch, and where nothing was predicted."""
    realised_gain_seconds: float | None
    """Seconds by which it did. Between runs: by the whole batches of the loan, of which each is compared with the run's
    batches without borrowed lanes, net of switching, shared by the lanes on loan; so far, while it is lent."""
    predicted_batch_seconds: float | None
    """Seconds of a batch as predicted with the lanes lent."""
    measured_batch_seconds: float | None
    """Median seconds of the whole batches of the loan."""
    predicted_batch_seconds_before: float | None
    """Seconds of a batch as predicted without them."""
    measured_batch_seconds_before: float | None
    """Median seconds of the run's batches without borrowed lanes."""
