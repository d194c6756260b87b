"""What lending by search gains over no lending and over greedy lending, simulated over a grid of cost profiles.

    python -m tests.bench.search_grid [--every 6] [--out var/bench/search.json]

Each profile is simulated in three ways: with costs known exactly from the start; with durations that vary by up to
±20 % and costs measured as they vary (means over a few seeds); and without any costs known at the start. The error of a
prediction is |predicted − realised gain| of a settled decision, as a share of the mean batch time.
"""

import argparse
import json
import os
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, product
from pathlib import Path
from random import Random
from typing import Any

from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.names import LaneRole, TrainerAssist
from worker.contracts.sections import PipelineSpec, SamplingSpec
from worker.scheduling.core.batching import num_micro_batches
from worker.scheduling.core.costs import GANG, Cost, CostKind
from worker.scheduling.core.lending import LendingPolicy
from worker.scheduling.core.messages import Action, Event, Lend, LendSettled
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.forecast.lending_policies import lending_policy
from worker.scheduling.simulator.simulated_lanes import SimulatedLane
from worker.scheduling.simulator.simulator import Simulator

NOISE = 0.2
"""Relative variation of each duration, in either direction. An assumption."""
SEEDS = range(4)
"""Seeds of the variations that are averaged."""
OUTPUT = Path(os.environ.get("TANDEM_VAR", "var")) / "bench" / "search.json"
"""Where the report is written by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One cost profile. The unit of time is the second in which a rollout lane of speed 1 generates a fragment."""

    generation_to_training: float
    """Seconds in which the rollout lanes generate a batch ÷ seconds in which the gang trains it."""
    num_groups: int
    fragments_in_group: int
    switch_seconds: float
    """Seconds of a switch, in either direction."""
    score_seconds: float
    num_rollout: int
    num_trainer: int
    is_heterogeneous: bool = False
    """Lanes have the speeds 1, 1.6, 0.7, 1, … in turn; otherwise all have speed 1."""
    max_staleness: int = 0
    num_minibatches: int = 1
    num_epochs: int = 1
    gap: bool = True
    num_batches: int = 3

    @property
    def algebra(self) -> BatchAlgebra:
        batch = BatchSpec(
            num_prompts_per_batch=self.num_groups,
            group_size=2 * self.fragments_in_group,
            fragment_size=2,
            num_minibatches=self.num_minibatches,
            num_epochs_per_batch=self.num_epochs,
        )
        return BatchAlgebra.resolve(batch, SamplingSpec(num_denoising_steps=4))

    @property
    def lanes(self) -> list[SimulatedLane]:
        numbers = {LaneRole.ROLLOUT: self.num_rollout, LaneRole.TRAINER: self.num_trainer, LaneRole.REWARD: 2}
        return [SimulatedLane(lane=f"{role}-{i}", role=role) for role, number in numbers.items() for i in range(number)]

    @property
    def costs(self) -> dict[tuple[str, CostKind], Cost]:
        table: dict[tuple[str, CostKind], Cost] = {}
        speeds = (1.0, 1.6, 0.7) if self.is_heterogeneous else (1.0,)
        for index, lane in enumerate(self.lanes):
            if lane.role is LaneRole.REWARD:
                table[lane.lane, CostKind.SCORE] = Cost(self.score_seconds, 0.0)
                continue
            table[lane.lane, CostKind.GENERATE] = Cost(0.0, 0.5 / speeds[index % len(speeds)])
            table[lane.lane, CostKind.PULL] = Cost(0.05, 0.0)
            if lane.role is LaneRole.TRAINER:
                table[lane.lane, CostKind.LEND] = table[lane.lane, CostKind.RECLAIM] = Cost(self.switch_seconds, 0.0)
        speed = sum(speeds[index % len(speeds)] for index in range(self.num_rollout))
        training = self.algebra.num_fragments / speed / self.generation_to_training
        units = num_micro_batches(self.algebra, self.num_groups, world_size=self.num_trainer, tsp=True)
        in_step = table[GANG, CostKind.ACCUMULATE] = Cost(0.0, training / units / self.num_epochs)
        table |= {(lane.lane, CostKind.ACCUMULATE): in_step for lane in self.lanes if lane.role is LaneRole.TRAINER}
        table[GANG, CostKind.COMMIT] = Cost(0.1, 0.0)
        table[GANG, CostKind.PUBLISH] = Cost(0.1, 0.0)
        return table

    def scheduler(
        self,
        tag: TrainerAssist,
        *,
        knows_costs: bool = True,
        lends_together: bool = False,
        equal_counts: bool = False,
        policy: LendingPolicy | None = None,
    ) -> "Recorded":
        pipeline = PipelineSpec(tag=tag, max_staleness=self.max_staleness, gap=self.gap)
        return Recorded(
            self.algebra,
            pipeline,
            lending_policy=policy or lending_policy(pipeline),
            advantage_std="group",
            first_batch=0,
            num_batches=self.num_batches,
            policy_version=0,
            lends_together=lends_together,
            equal_counts=equal_counts,
            prior=self.costs if knows_costs else None,
        )

    def simulate(
        self,
        scheduler: Scheduler,
        vary: Callable[[float], float] = lambda seconds: seconds,
        observe: Callable[[Event, float], None] = lambda event, at: None,
    ) -> float:
        """The simulated seconds of the run."""
        return Simulator(scheduler, self.lanes, self.costs, None, vary=vary, observe=observe).run()

    def seconds(self, tag: TrainerAssist) -> float:
        """The simulated seconds of a run with exact costs."""
        return self.simulate(self.scheduler(tag))


class Recorded(Scheduler):
    """A scheduler that keeps its lending decisions and their outcomes."""

    def __init__(self, algebra: BatchAlgebra, pipeline: PipelineSpec, **settings: Any) -> None:
        super().__init__(algebra, pipeline, **settings)
        self.lends: dict[int, Lend] = {}
        self.settled: dict[int, LendSettled] = {}

    def next_actions(self, at: float) -> list[Action]:
        actions = super().next_actions(at)
        for action in actions:
            if isinstance(action, Lend):
                self.lends[action.decision] = action
            elif isinstance(action, LendSettled):
                self.settled[action.decision] = action
        return actions

    def errors(self) -> list[float]:
        """|predicted − realised gain| of each settled decision, in seconds."""
        gains = {number: self.lends[number].predicted_gain_seconds for number in self.settled}
        return [
            abs(gain - self.settled[number].realised_gain_seconds) for number, gain in gains.items() if gain is not None
        ]


def noisy(seed: int) -> Callable[[float], float]:
    """Varies durations by `NOISE`. Each expected duration has its own random factors, so that runs that are compared
    draw the same ones for the same work."""
    streams: dict[float, Random] = {}

    def vary(seconds: float) -> float:
        stream = streams.setdefault(seconds, Random(f"{seed} {seconds:.9f}"))
        return seconds * stream.uniform(1 - NOISE, 1 + NOISE)

    return vary


def grid() -> list[Profile]:
    """1,440 profiles in shuffled order, so that a slice is a sample. Mini-batches, epochs and `gap` are drawn at
    random.

    Batches have from 64 fragments down to 2.
    """
    lanes = ((1, 1, False), (2, 1, False), (1, 8, False), (4, 4, False), (3, 2, True), (8, 8, True))
    inner = [(*updates, gap) for updates, gap in product(((1, 1), (2, 1), (1, 2), (2, 2)), (True, True, False))]
    profiles = []
    rng = Random(0)
    outer = product(
        (0.25, 0.5, 1.0, 2.0, 4.0), ((8, 8), (8, 2), (4, 1), (2, 1)), (0.0, 0.1, 1.0), (0.02, 1.0), lanes, (0, 1)
    )
    for ratio, (num_groups, fragments), switch, score, (rollout, trainer, uneven), staleness in outer:
        num_minibatches, num_epochs, gap = rng.choice(inner)
        profiles.append(
            Profile(
                generation_to_training=ratio,
                num_groups=num_groups,
                fragments_in_group=fragments,
                switch_seconds=switch,
                score_seconds=score,
                num_rollout=rollout,
                num_trainer=trainer,
                is_heterogeneous=uneven,
                max_staleness=staleness,
                num_minibatches=num_minibatches,
                num_epochs=num_epochs,
                gap=gap,
            )
        )
    rng.shuffle(profiles)
    return profiles


@dataclass(frozen=True, slots=True)
class Row:
    """Run times ÷ that of the same run without lending; errors as shares of a batch's time."""

    profile: Profile
    greedy: float
    search: float
    search_without_costs: float
    """With no costs known at the start."""
    greedy_noisy: float
    search_noisy: float
    errors: list[float]
    errors_noisy: list[float]


def row_of(profile: Profile) -> Row:
    off = profile.seconds(TrainerAssist.OFF)
    exact = profile.scheduler(TrainerAssist.SEARCH)
    without_costs = profile.scheduler(TrainerAssist.SEARCH, knows_costs=False)
    search = profile.simulate(exact)
    noisy_seconds = dict.fromkeys(TrainerAssist, 0.0)
    errors_noisy: list[float] = []
    for tag, seed in product(TrainerAssist, SEEDS):
        scheduler = profile.scheduler(tag)
        seconds = profile.simulate(scheduler, noisy(seed))
        noisy_seconds[tag] += seconds
        errors_noisy += [error * profile.num_batches / seconds for error in scheduler.errors()]
    off_noisy = noisy_seconds[TrainerAssist.OFF]
    return Row(
        profile,
        greedy=profile.seconds(TrainerAssist.GREEDY) / off,
        search=search / off,
        search_without_costs=profile.simulate(without_costs) / off,
        greedy_noisy=noisy_seconds[TrainerAssist.GREEDY] / off_noisy,
        search_noisy=noisy_seconds[TrainerAssist.SEARCH] / off_noisy,
        errors=[error * profile.num_batches / search for error in exact.errors()],
        errors_noisy=errors_noisy,
    )


VIEWS = ("greedy", "search", "search_without_costs", "greedy_noisy", "search_noisy")
"""Fields of `Row` that the table shows."""


def line(title: str, rows: Sequence[Row]) -> str:
    cells = []
    for view in VIEWS:
        ratios = [getattr(row, view) for row in rows]
        cells.append(f"{statistics.fmean(ratios):6.3f} {min(ratios):5.2f}–{max(ratios):4.2f}")
    return f"{title:34s} {len(rows):4d}  " + "   ".join(cells)


def table(rows: Iterable[Row]) -> str:
    def shape(row: Row) -> tuple[int, float]:
        profile = row.profile
        return -profile.num_groups * profile.fragments_in_group, profile.generation_to_training

    rows = sorted(rows, key=shape)
    lines = [
        "run time ÷ that without lending, mean min–max; with exact costs, then with durations ±20 %",
        f"{'':40s} {'greedy':19s} {'search':19s} {'search, no costs':19s} {'greedy, noisy':19s} search, noisy",
    ]
    for (fragments, ratio), of_shape in groupby(rows, key=shape):
        lines.append(line(f"{-fragments:3d} fragments, generate:train {ratio:4.2f}", list(of_shape)))
    lines.append(line("all", rows))
    for name, errors in (
        ("exact", [error for row in rows for error in row.errors]),
        ("noisy", [error for row in rows for error in row.errors_noisy]),
    ):
        error = statistics.fmean(errors) if errors else 0.0
        lines.append(f"prediction error, {name} costs: {error:.2%} of a batch ({len(errors)} decisions)")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=6, help="one in so many profiles of the grid")
    parser.add_argument("--out", type=Path, default=OUTPUT)
    options = parser.parse_args()
    rows = [row_of(profile) for profile in grid()[:: options.every]]
    print(table(rows))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"noise": NOISE, "rows": [asdict(row) for row in rows]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
