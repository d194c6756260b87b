"""Emulated lanes check what they are given as strictly as real ones, so that emulated runs find control errors."""

import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from tests.engine.driving import ROOT
from tests.engine.emulated.cases import Case
from worker.contracts.names import LaneRole
from worker.contracts.prompts import Prompt
from worker.engine.actors.reports import AccumulationPlan, GroupPlan, Rendezvous
from worker.engine.emulated.actors import emulated_actors
from worker.engine.emulated.timing import EmulatedTiming, Emulation
from worker.engine.emulated.values import EmulatedShard, EmulatedTrajectories, make_shard
from worker.engine.errors import MinibatchError, SyncError
from worker.engine.transport.parts import FragmentParts, cut_members
from worker.engine.types import GenerationRequest
from worker.scheduling.core.batching import num_micro_batches_per_group
from worker.scheduling.core.costs import GANG, Cost, CostKind, dump_costs
from worker.scheduling.core.fragment_queue import split_into_fragments
from worker.scheduling.core.messages import Fragment, MicroBatchKey, Purpose

SPEC = Case(8, "gap", is_mixed=False).spec
ALGEBRA = SPEC.algebra


@pytest.fixture
def actors(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mapping[LaneRole, Any]]:
    """Lane classes whose work takes no time. An actor's constructor changes environment and logging of its process,
    which is undone here."""
    monkeypatch.setattr(os, "environ", dict(os.environ))
    logger = logging.getLogger("worker")
    handlers, level = list(logger.handlers), logger.level
    yield emulated_actors(Emulation(costs=(), adapter_num_bytes=1000))
    logger.handlers[:] = handlers
    logger.setLevel(level)


@pytest.fixture
def trainer(actors: Mapping[LaneRole, Any]) -> Any:
    trainer = actors[LaneRole.TRAINER]("trainer-0", "cpu")
    trainer.load(SPEC, "none", 0, 1, Rendezvous(address="localhost", port=0), ())
    trainer.snapshot(3)
    trainer.publish(3)
    return trainer


def fragments_of(group: int, version: int = 3) -> list[Fragment]:
    fragments = split_into_fragments(
        purpose=Purpose.TRAIN,
        batch=0,
        num_groups=ALGEBRA.num_groups,
        group_size=ALGEBRA.group_size,
        fragment_size=ALGEBRA.fragment_size,
        policy_version=version,
    )
    return [fragment for fragment in fragments if fragment.key.group == group]


def parts_of(fragments: list[Fragment]) -> list[EmulatedTrajectories]:
    """One part for each fragment, as fragments that stay whole have."""
    return [
        EmulatedTrajectories(fragment=fragment, part=part, latents=np.zeros((1, 1), np.float32))
        for fragment in fragments
        for part in FragmentParts(SPEC).of(fragment, num_ranks=1)
    ]


def accumulate(
    trainer: Any, group: int, fragments: list[Fragment], *, staleness: int = 0, behaviour: Any = None
) -> Any:
    """Accumulate all micro-batches of a group."""
    parts = parts_of(fragments)
    advantages = (0.0,) * ALGEBRA.group_size
    plan = AccumulationPlan(
        groups=(GroupPlan(batch=0, group=group, advantages=advantages, num_parts=len(parts)),),
        micro_batches=tuple(MicroBatchKey(group, index) for index in range(num_micro_batches_per_group(ALGEBRA))),
        num_padding=0,
        num_pairs_total=ALGEBRA.num_pairs_per_optimizer_step,
        fresh=True,
        staleness=staleness,
    )
    return trainer.accumulate(plan, behaviour, *parts).value


def test_a_complete_minibatch_is_trained_and_closed(trainer: Any) -> None:
    for _ in range(2):
        stats = [accumulate(trainer, group, fragments_of(group)) for group in range(ALGEBRA.num_groups)]
        assert sum(each.num_pairs for each in stats) == ALGEBRA.num_pairs_per_optimizer_step
        trainer.commit()


@pytest.mark.parametrize(
    "fragments",
    [fragments_of(0)[:-1], fragments_of(1), fragments_of(0, version=2)],
    ids=["short", "another group", "another version"],
)
def test_a_micro_batch_whose_members_the_parts_lack_is_refused(trainer: Any, fragments: list[Fragment]) -> None:
    with pytest.raises(MinibatchError, match=r"of batch 0 needs members .* of version 3"):
        accumulate(trainer, 0, fragments)


def test_a_micro_batch_enters_a_minibatch_once(trainer: Any) -> None:
    accumulate(trainer, 0, fragments_of(0))
    with pytest.raises(MinibatchError, match="twice"):
        accumulate(trainer, 0, fragments_of(0))


@dataclass(frozen=True)
class HeldVersion:
    """A version without an object store."""

    policy_version: int

    def shards(self) -> Iterator[EmulatedShard]:
        yield make_shard(self.policy_version, 10)


def test_stale_data_needs_the_weights_that_generated_it(trainer: Any) -> None:
    stale = fragments_of(0, version=2)
    with pytest.raises(MinibatchError, match="weights of version 2"):
        accumulate(trainer, 0, stale, staleness=1, behaviour=HeldVersion(3))
    accumulate(trainer, 0, stale, staleness=1, behaviour=HeldVersion(2))


def test_a_lane_generates_only_with_the_version_that_it_pulled(actors: Mapping[LaneRole, Any]) -> None:
    rollout = actors[LaneRole.ROLLOUT]("rollout-0", "cpu")
    request = GenerationRequest(fragment=fragments_of(0)[0], prompt=Prompt(text="a prompt"), run_seed=0, prompt_index=0)
    rollout.pull(HeldVersion(2))
    with pytest.raises(SyncError, match="needs policy version 3, got 2"):
        rollout.generate([request], [()])
    rollout.pull(HeldVersion(3))
    parts = cut_members(ALGEBRA, request.fragment.members, by_step=True)
    report, images, *trajectories = rollout.generate([request], [parts])
    assert len(report.value[0].seeds) == len(images) == ALGEBRA.fragment_size
    assert [(made.part, len(made.latents)) for made in trajectories] == [(part, len(part.members)) for part in parts]


def test_weights_that_changed_in_transfer_are_refused() -> None:
    shard = make_shard(1, 10)
    with pytest.raises(SyncError, match="must read back as sha256"):
        replace(shard, content=shard.content[::-1].copy()).pull()


def test_the_ranks_of_a_gang_wait_for_the_same_durations(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("worker.engine.emulated.timing.time.monotonic", lambda: 0.0)
    monkeypatch.setattr("worker.engine.emulated.timing.time.sleep", waits.append)
    costs = dump_costs({(GANG, CostKind.COMMIT): Cost(2.0)})
    for timing in (
        EmulatedTiming(Emulation(costs=costs, relative_spread=0.5)),
        EmulatedTiming(Emulation(costs=costs, relative_spread=0.5)),
    ):
        for _ in range(3):
            timing.wait_until_due(0.0, GANG, CostKind.COMMIT)
    assert waits[:3] == waits[3:] and len(set(waits)) == 3
    assert all(1.0 <= seconds <= 3.0 for seconds in waits)


def test_an_emulated_lane_needs_no_torch() -> None:
    """Dozens of them must fit on a small machine."""
    program = "import sys, worker.engine.emulated.actors; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0
