"""`make bench-scheduler`: processor time of a scheduling decision, by number of lanes.

A run with every switch on (disaggregated, gap, staleness 1, lending greedy or by search) is simulated on a virtual
clock; only the scheduler's own calls are timed. A decision is one event applied and the actions that follow it. The
batch grows with the lanes, four trajectories for each, so a run with twice the lanes makes twice as many decisions, and
the time of each should stay about the same.

Where training takes longer than generation trainer lanes hardly ever idle, so there is little to search. The harder
case is separate: costs known from the start, and so little training that most of the trainer lanes' time is bubbles.
"""

import argparse
import heapq
import json
import statistics
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from random import Random

from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.names import LaneRole, TrainerAssist
from worker.contracts.sections import PipelineSpec, SamplingSpec
from worker.scheduling.core.costs import GANG, Cost, CostKind
from worker.scheduling.core.lending import LendingPolicy
from worker.scheduling.core.messages import (
    Accumulate,
    Accumulated,
    Action,
    Commit,
    Committed,
    Event,
    Generate,
    Generated,
    LaneJoined,
    Publish,
    Published,
    Pull,
    Pulled,
    Score,
    Scored,
    Snapshot,
    Snapshotted,
    Switch,
    Switched,
)
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.forecast.lending_policies import lending_policy
from worker.scheduling.forecast.search import Search

NUMS_LANES = (32, 256, 1024, 4096)
"""From the size of a published testbed to far beyond it."""
NUM_BATCHES = 3
"""Enough for batches to overlap at staleness 1, from the second one on."""
FRAGMENT_SECONDS = 10.0
"""Short for what is trained in practice, where most fragments take minutes. The other durations are assumptions, small
beside it."""
SCORE_SECONDS = 0.5
PULL_SECONDS = 0.05
SWITCH_SECONDS = 0.1
COMMIT_SECONDS = 0.1
SNAPSHOT_SECONDS = 0.01
PUBLISH_SECONDS = 0.2
OUTPUT = Path("var/bench/scheduler.json")
"""Where the report is written by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One kind of run."""

    tag: TrainerAssist
    training_fragments: float = 4.0
    """The seconds in which a batch is trained, in units of `FRAGMENT_SECONDS`."""
    knows_costs: bool = False
    """Whether costs are given to the scheduler from the start."""

    @property
    def name(self) -> str:
        return f"{self.tag}, bubbles" if self.knows_costs else str(self.tag)


CASES = (
    Case(tag=TrainerAssist.GREEDY),
    Case(tag=TrainerAssist.SEARCH),
    Case(tag=TrainerAssist.SEARCH, training_fragments=0.5, knows_costs=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The decisions of one run."""

    case: str
    num_lanes: int
    num_decisions: int
    """The number of events applied, each with the actions that follow it."""
    num_searches: int
    """The number of decisions in which lending was searched."""
    num_truncated: int
    """The number of searches that reached their budget."""
    mean_microseconds: float
    median_microseconds: float
    p99_microseconds: float
    max_milliseconds: float
    share_of_fragment: float
    """The mean seconds of a decision, as a share of a fragment's seconds."""
    worst_share_of_fragment: float
    """The longest decision, as a share of a fragment's seconds."""
    share_of_run: float
    """The scheduler's seconds, as a share of the run's: how busy its processor is."""
    run_seconds: float
    """The run's length on the virtual clock."""


def algebra_for(num_lanes: int) -> BatchAlgebra:
    batch = BatchSpec(num_prompts_per_batch=num_lanes // 4, group_size=16, fragment_size=4, num_minibatches=2)
    return BatchAlgebra.resolve(batch, SamplingSpec(num_denoising_steps=8))


def lanes_for(num_lanes: int) -> Iterator[tuple[str, LaneRole]]:
    """(name, role) of each lane: five eighths generate, a quarter trains, an eighth scores."""
    for number in range(num_lanes):
        role = LaneRole.ROLLOUT if number % 8 < 5 else LaneRole.TRAINER if number % 8 < 7 else LaneRole.REWARD
        yield f"{role}-{number}", role


def costs_for(algebra: BatchAlgebra, num_lanes: int, training_seconds: float) -> dict[tuple[str, CostKind], Cost]:
    """The mean durations of `answer`, as costs."""
    lanes = list(lanes_for(num_lanes))
    each = micro_batch_seconds(algebra, num_lanes, training_seconds)
    table = {
        (GANG, CostKind.COMMIT): Cost(COMMIT_SECONDS),
        (GANG, CostKind.SNAPSHOT): Cost(SNAPSHOT_SECONDS),
        (GANG, CostKind.PUBLISH): Cost(PUBLISH_SECONDS),
    }
    of_role = {
        LaneRole.REWARD: {CostKind.SCORE: SCORE_SECONDS},
        LaneRole.ROLLOUT: {CostKind.GENERATE: FRAGMENT_SECONDS, CostKind.PULL: PULL_SECONDS},
    }
    of_role[LaneRole.TRAINER] = of_role[LaneRole.ROLLOUT] | dict.fromkeys(
        (CostKind.LEND, CostKind.RECLAIM), SWITCH_SECONDS
    )
    for lane, role in lanes:
        table |= {(lane, kind): Cost(seconds) for kind, seconds in of_role[role].items()}
        if role is LaneRole.TRAINER:
            table[lane, CostKind.ACCUMULATE] = Cost(0.0, each)
    return table


def micro_batch_seconds(algebra: BatchAlgebra, num_lanes: int, training_seconds: float) -> float:
    """Seconds in which each of the trainer lanes trains a micro-batch, if all train a batch in `training_seconds`."""
    num_ranks = sum(role is LaneRole.TRAINER for _, role in lanes_for(num_lanes))
    num_micro_batches = algebra.num_micro_batches_per_optimizer_step * algebra.num_optimizer_steps_per_batch
    return training_seconds * num_ranks / num_micro_batches


def answer(action: Action, seconds_per_micro_batch: float, rng: Random) -> tuple[float, Event] | None:
    """(seconds, event): when and how the action is answered; `None` for an action that needs no answer."""
    match action:
        case Pull(lane, version):
            return PULL_SECONDS, Pulled(lane, version)
        case Switch(lane, to):
            return SWITCH_SECONDS, Switched(lane, to)
        case Generate(lane, fragments):
            seconds = sum(FRAGMENT_SECONDS * rng.uniform(0.8, 1.2) for _ in fragments)
            return seconds, Generated(lane, tuple(fragment.key for fragment in fragments))
        case Score(lane, fragment):
            return SCORE_SECONDS * rng.uniform(0.8, 1.2), Scored(lane, fragment.key, (0.0,) * len(fragment.members))
        case Accumulate(lane, batch, minibatch, epoch, micro_batches):
            seconds = seconds_per_micro_batch * len(micro_batches) * rng.uniform(0.8, 1.2)
            return seconds, Accumulated(lane, batch, minibatch, epoch, micro_batches)
        case Commit(batch, minibatch, epoch):
            return COMMIT_SECONDS, Committed(batch, minibatch, epoch)
        case Snapshot(_, version):
            return SNAPSHOT_SECONDS, Snapshotted(version)
        case Publish(_, version):
            return PUBLISH_SECONDS, Published(version)
        case _:
            return None


def measure(case: Case, num_lanes: int) -> Row:
    """Simulate a run and time every decision."""
    algebra, rng = algebra_for(num_lanes), Random(0)
    training_seconds = case.training_fragments * FRAGMENT_SECONDS
    each = micro_batch_seconds(algebra, num_lanes, training_seconds)
    pipeline = PipelineSpec(tag=case.tag, max_staleness=1)
    policy = lending_policy(pipeline)
    scheduler = Scheduler(
        algebra,
        pipeline,
        lending_policy=policy,
        advantage_std="group",
        first_batch=0,
        num_batches=NUM_BATCHES,
        policy_version=0,
        prior=costs_for(algebra, num_lanes, training_seconds) if case.knows_costs else None,
    )
    for lane, role in lanes_for(num_lanes):
        scheduler.apply(LaneJoined(lane, role, None), 0.0)
    event_queue: list[tuple[float, int, Event]] = []
    durations: list[float] = []
    num_answers, now, event = 0, 0.0, None
    while not scheduler.state.is_finished:
        began = time.process_time()
        if event is not None:
            scheduler.apply(event, now)
        actions = scheduler.next_actions(now)
        durations.append(time.process_time() - began)
        for action in actions:
            answered = answer(action, each, rng)
            if answered is not None:
                num_answers += 1
                heapq.heappush(event_queue, (now + answered[0], num_answers, answered[1]))
        if event_queue:
            now, _, event = heapq.heappop(event_queue)
    return row_of(case, num_lanes, durations, now, policy)


def row_of(case: Case, num_lanes: int, durations: list[float], run_seconds: float, policy: LendingPolicy | None) -> Row:
    durations.sort()
    mean, worst = statistics.fmean(durations), durations[-1]
    return Row(
        case=case.name,
        num_lanes=num_lanes,
        num_decisions=len(durations),
        num_searches=policy.num_searches if isinstance(policy, Search) else 0,
        num_truncated=policy.num_truncated if isinstance(policy, Search) else 0,
        mean_microseconds=1e6 * mean,
        median_microseconds=1e6 * statistics.median(durations),
        p99_microseconds=1e6 * durations[int(0.99 * len(durations))],
        max_milliseconds=1e3 * worst,
        share_of_fragment=mean / FRAGMENT_SECONDS,
        worst_share_of_fragment=worst / FRAGMENT_SECONDS,
        share_of_run=sum(durations) / run_seconds,
        run_seconds=run_seconds,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanes", type=int, nargs="+", default=NUMS_LANES, help="multiples of 8")
    parser.add_argument("--out", type=Path, default=OUTPUT)
    options = parser.parse_args()
    rows = []
    print(
        "         lending   lanes  decisions  searches  truncated   mean µs    p99 µs    max ms  "
        "mean, worst of a fragment  of the run"
    )
    for case, number in product(CASES, options.lanes):
        rows.append(row := measure(case, number))
        print(
            f"{row.case:>16} {row.num_lanes:7d} {row.num_decisions:10d} {row.num_searches:9d} {row.num_truncated:10d} "
            f"{row.mean_microseconds:9.1f} {row.p99_microseconds:9.1f} {row.max_milliseconds:9.2f} "
            f"{row.share_of_fragment:15.5%} {row.worst_share_of_fragment:9.3%} {row.share_of_run:11.3%}",
            flush=True,
        )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"rows": [asdict(row) for row in rows]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
