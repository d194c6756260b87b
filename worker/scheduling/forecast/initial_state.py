"""How things stand when a forecast begins, in seconds from then on.

    scheduler's state ──► `state_reader` ──► InitialState (frozen) ──► forecast ──► search

Invariant: it holds all that decides when the open batches end, in so far as it is known.
"""

from dataclasses import dataclass

from worker.scheduling.forecast.queueing import GeneratingLanes, Indices, ScoringLanes, Seconds

NO_VERSION = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class LendableLane:
    """A trainer lane, as one that may generate."""

    lane: str
    is_lent: bool
    """It serves as a rollout lane, or is on its way there or back."""
    is_returning: bool
    earliest_return: float
    """When it can begin its way back at the earliest, or is back where it is on its way."""
    ready: float
    """When it can begin a fragment, were it to stay or to go now."""
    began: float
    """When what is under way until `earliest_return` began."""
    seconds: float
    """For each fragment."""
    lend: float
    reclaim: float
    pull: float
    """To the version that generation is at; 0 where it holds that."""
    left: int
    """Fragments that it may still begin."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BatchState:
    """A batch that is open, or to come."""

    version: int | None
    """`None`: it has not begun."""
    waiting: Indices
    """The group of each fragment that no lane has begun, in the order in which they will be."""
    begun: tuple[Indices, Seconds]
    """The group of each fragment that is not being scored yet, and when it is generated."""
    scoring: tuple[Indices, Seconds]
    """The group of each fragment that is being scored, and when it is."""
    epoch: int = 0
    minibatch: int = 0
    taken: frozenset[int] = frozenset()
    """Groups of the open mini-batch that are accumulated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingState:
    """What the whole gang takes, and which groups it takes when."""

    bundle: tuple[float, ...]
    """Seconds to accumulate so many groups at once, by their number."""
    takes: tuple[int, ...]
    """How many of so many ready groups go at once while others of the mini-batch are to come, by their number."""
    commit: float
    snapshot: float
    publish: float
    """From the snapshot to the version being on offer."""
    num_groups: int
    num_minibatches: int
    num_epochs: int
    whole_batch_first: bool
    in_order: bool


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class InitialState:
    rollout: GeneratingLanes
    versions: Indices
    """What each rollout lane holds, or `NO_VERSION`."""
    pull: Seconds
    """What it takes each rollout lane to change versions."""
    lendable_lanes: tuple[LendableLane, ...]
    rewards: ScoringLanes
    training: TrainingState
    batches: tuple[BatchState, ...]
    """The open ones in order, then those to come within the horizon."""
    first_batch: int
    """The number of the first of them."""
    num_open: int
    num_others: int
    """Fragments of evaluations, which go first."""
    max_staleness: int
    policy_version: int
    """The version published last."""
    published_in: float | None
    """When the version under way is on offer; `None` where none is."""
    lends_together: bool
