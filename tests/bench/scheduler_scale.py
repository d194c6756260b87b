"""What a decision costs the scheduler, by number of lanes: `make bench-scheduler`.

A run with every switch on (disaggregated, gap, staleness 1, assist greedy or by search) is played on a virtual clock;
only the scheduler's own calls are timed, in processor seconds. A decision is one event applied and the actions that
follow it. The batch grows with the lanes, four trajectories to each, so a run twice as wide makes twice as many
decisions, and what is to stay about the same is the cost of each.
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

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.names import Role, TrainerAssist
from worker.contracts.sections import BatchSpec, PipelineSpec, SamplingSpec
from worker.pipeline.scheduler import Scheduler
from worker.pipeline.types import (
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

NUMS_LANES = (32, 256, 1024, 4096)
NUM_BATCHES = 3
FRAGMENT_SECONDS = 10.0
"""Short for what is trained in practice: most fragments take minutes."""
OUTPUT = Path("var/bench/scheduler.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    tag: TrainerAssist
    num_lanes: int
    num_decisions: int
    mean_microseconds: float
    median_microseconds: float
    p99_microseconds: float
    max_milliseconds: float
    share_of_fragment: float
    """A decision's mean seconds as a share of a fragment's."""
    share_of_run: float
    """The scheduler's seconds as a share of the run's: how busy its processor is."""


def algebra_for(num_lanes: int) -> BatchAlgebra:
    batch = BatchSpec(num_prompts_per_batch=num_lanes // 4, group_size=16, fragment_size=4, num_minibatches=2)
    return BatchAlgebra.resolve(batch, SamplingSpec(num_denoising_steps=8))


def lanes_for(num_lanes: int) -> Iterator[tuple[str, Role]]:
    """Five eighths generate, a quarter trains, an eighth scores."""
    for number in range(num_lanes):
        role = Role.ROLLOUT if number % 8 < 5 else Role.TRAINER if number % 8 < 7 else Role.REWARD
        yield f"{role}-{number}", role


def answer(action: Action, num_groups: int, random: Random) -> tuple[float, Event] | None:
    """After how many seconds which event answers the action. The whole batch trains in the time of four fragments."""
    match action:
        case Pull(lane, version):
            return 0.05, Pulled(lane, version)
        case Switch(lane, to):
            return 0.1, Switched(lane, to)
        case Generate(lane, fragment):
            return FRAGMENT_SECONDS * random.uniform(0.8, 1.2), Generated(lane, fragment.key)
        case Score(lane, fragment):
            return 0.5 * random.uniform(0.8, 1.2), Scored(lane, fragment.key, (0.0,) * len(fragment.members))
        case Accumulate(batch, minibatch, epoch, groups):
            seconds = 4 * FRAGMENT_SECONDS * len(groups) / num_groups
            return seconds, Accumulated(batch, minibatch, epoch, groups)
        case Commit(batch, minibatch, epoch):
            return 0.1, Committed(batch, minibatch, epoch)
        case Snapshot(_, version):
            return 0.01, Snapshotted(version)
        case Publish(_, version):
            return 0.2, Published(version)
        case _:
            return None


def play(tag: TrainerAssist, num_lanes: int) -> Row:
    """Time every decision of a run."""
    algebra, random = algebra_for(num_lanes), Random(0)
    pipeline = PipelineSpec(tag=tag, max_staleness=1)
    scheduler = Scheduler(
        algebra, pipeline, advantage_std="group", first_batch=0, num_batches=NUM_BATCHES, policy_version=0
    )
    for lane, role in lanes_for(num_lanes):
        scheduler.apply(LaneJoined(lane, role, None), 0.0)
    agenda: list[tuple[float, int, Event]] = []
    durations: list[float] = []
    num_appointments, now, event = 0, 0.0, None
    while not scheduler.is_finished:
        began = time.process_time()
        if event is not None:
            scheduler.apply(event, now)
        actions = scheduler.next_actions(now)
        durations.append(time.process_time() - began)
        for action in actions:
            answered = answer(action, algebra.num_groups, random)
            if answered is not None:
                num_appointments += 1
                heapq.heappush(agenda, (now + answered[0], num_appointments, answered[1]))
        if agenda:
            now, _, event = heapq.heappop(agenda)
    return row_of(tag, num_lanes, durations, now)


def row_of(tag: TrainerAssist, num_lanes: int, durations: list[float], run_seconds: float) -> Row:
    durations.sort()
    return Row(
        tag=tag,
        num_lanes=num_lanes,
        num_decisions=len(durations),
        mean_microseconds=1e6 * statistics.fmean(durations),
        median_microseconds=1e6 * statistics.median(durations),
        p99_microseconds=1e6 * durations[int(0.99 * len(durations))],
        max_milliseconds=1e3 * durations[-1],
        share_of_fragment=statistics.fmean(durations) / FRAGMENT_SECONDS,
        share_of_run=sum(durations) / run_seconds,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanes", type=int, nargs="+", default=NUMS_LANES, help="multiples of 8")
    num_lanes = parser.parse_args().lanes
    rows = []
    print("  assist   lanes  decisions   mean µs  median µs    p99 µs    max ms  of a fragment  of the run")
    for tag, number in product((TrainerAssist.GREEDY, TrainerAssist.SEARCH), num_lanes):
        rows.append(row := play(tag, number))
        print(
            f"{row.tag:>8} {row.num_lanes:7d} {row.num_decisions:10d} {row.mean_microseconds:9.1f} "
            f"{row.median_microseconds:10.1f} {row.p99_microseconds:9.1f} {row.max_milliseconds:9.2f} "
            f"{row.share_of_fragment:14.5%} {row.share_of_run:11.3%}",
            flush=True,
        )
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps({"rows": [asdict(row) for row in rows]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
