"""A trainer rank: one member of the run's torch.distributed group, which may be lent to generation.

`rendezvous`, `switch`, `pull`, `generate` and `publish` concern one rank alone; every other method is entered by all
ranks alike, or the collectives inside would wait for ever.

```text
thread of the actor   … commit ─► snapshot ─► accumulate (the next batch) …
thread for publishing                 └─► publish ─► the version's bytes
```
"""

import socket
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import ray

from worker.contracts.names import Role
from worker.contracts.run_spec import RunSpec
from worker.engine.actors.generating import GeneratingActor
from worker.engine.actors.publishing import PUBLISHING, PUBLISHING_GROUP, take_snapshot
from worker.engine.actors.reports import (
    AccumulationPlan,
    AdapterFacts,
    CallReport,
    GroupPlan,
    Rendezvous,
    Restored,
)
from worker.engine.types import GroupBatch, PublishedAdapter, Trajectories, UpdateStats

if TYPE_CHECKING:
    import torch

    from worker.engine.trainer.engine import TrainerEngine


def assemble_groups(plans: Sequence[GroupPlan], trajectories: Sequence[Trajectories]) -> list[GroupBatch]:
    """Give each planned group its trajectories, which come flat and in order: Ray resolves only top-level references.

    Raises:
        ValueError: when the plans and the trajectories do not agree in number.
    """
    num_planned = sum(plan.num_fragments for plan in plans)
    if num_planned != len(trajectories):
        raise ValueError(f"`trajectories` must hold the {num_planned} fragments planned, got {len(trajectories)}")
    remaining = iter(trajectories)
    return [
        GroupBatch(
            batch=plan.batch,
            group=plan.group,
            trajectories=tuple(next(remaining) for _ in range(plan.num_fragments)),
            advantages=plan.advantages,
        )
        for plan in plans
    ]


def _facts(adapter: PublishedAdapter) -> AdapterFacts:
    return AdapterFacts(
        policy_version=adapter.policy_version,
        num_tensors=len(adapter.tensors),
        num_bytes=adapter.num_bytes,
        sha256=adapter.sha256,
    )


class TrainerActor(GeneratingActor):
    concurrency_groups: ClassVar = PUBLISHING_GROUP

    _engine: "TrainerEngine"
    _snapshot: "tuple[int, dict[str, torch.Tensor]] | None" = None
    """The version copied last, and its tensors, until it is published."""

    def rendezvous(self) -> Rendezvous:
        """This node's address and a port that is free on it now; asked of rank 0."""
        with socket.socket() as probe:
            probe.bind(("", 0))
            return Rendezvous(address=ray.util.get_node_ip_address(), port=probe.getsockname()[1])

    def load(
        self,
        spec: RunSpec,
        base_model_path: str,
        rank: int,
        world_size: int,
        meeting: Rendezvous,
        initial_adapter: str | None,
        prompts: Sequence[str],
    ) -> CallReport[None]:
        """Join the group and load the model; `initial_adapter` is a LoRA file to start from, `prompts` are what the run
        is known to draw."""
        start = time.monotonic()
        from worker.engine.models.run_text import run_embeddings
        from worker.engine.trainer.engine import TrainerEngine
        from worker.engine.trainer.export import read_lora
        from worker.engine.trainer.process_group import init_process_group

        init_process_group(rank, world_size, meeting.address, meeting.port)
        self._rank = rank
        embeddings = run_embeddings(spec, base_model_path, prompts)
        self._engine = TrainerEngine(spec, base_model_path, rank, world_size, embeddings=embeddings)
        if self._engine.generator is not None:
            self._rollout = self._engine.generator
        if initial_adapter is not None:
            self._engine.load_adapter(read_lora(initial_adapter, spec.lora))
        self._check_device()
        return self._report(start, None)

    def switch(self, to: Role) -> CallReport[None]:
        start = time.monotonic()
        self._engine.switch(to)
        return self._report(start, None)

    def accumulate(
        self, plan: AccumulationPlan, behaviour: PublishedAdapter | None, *trajectories: Trajectories
    ) -> CallReport[UpdateStats]:
        start = time.monotonic()
        stats = self._engine.accumulate(
            assemble_groups(plan.groups, trajectories),
            num_pairs_total=plan.num_pairs_total,
            fresh=plan.fresh,
            staleness=plan.staleness,
            behaviour=behaviour,
        )
        return self._report(start, stats)

    def commit(self) -> CallReport[dict[str, float]]:
        start = time.monotonic()
        return self._report(start, self._engine.commit())

    def snapshot(self, policy_version: int) -> CallReport[None]:
        """Copy what was trained; rank 0 keeps it for `publish`."""
        start = time.monotonic()
        copies = self._engine.snapshot()
        if self._rank == 0:
            self._snapshot = policy_version, copies
        return self._report(start, None)

    @ray.method(concurrency_group=PUBLISHING)
    def publish(self, policy_version: int) -> tuple[CallReport[AdapterFacts], PublishedAdapter]:
        """Asked of rank 0, while the gang goes on. Two returns: facts for the driver, tensors for the rollout lanes.

        Raises:
            SyncError: when the last snapshot is of another version.
        """
        start = time.monotonic()
        from worker.engine.sync.adapter import publish

        adapter = publish(take_snapshot(self._snapshot, policy_version), policy_version)
        self._snapshot = None
        return self._report(start, _facts(adapter)), adapter

    def save_checkpoint(
        self, uri: str, client_state: dict[str, Any], behaviour: PublishedAdapter | None
    ) -> CallReport[int]:
        """The value is the bytes that this rank wrote."""
        start = time.monotonic()
        return self._report(start, self._engine.save_checkpoint(uri, client_state, behaviour))

    def load_checkpoint(self, uri: str) -> tuple[CallReport[Restored], PublishedAdapter | None]:
        """Called with two returns: facts for the driver, and the older adapter that is kept there (rank 0 alone)."""
        from worker.engine.trainer.checkpoint import load_behaviour

        start = time.monotonic()
        state = self._engine.load_checkpoint(uri)
        behaviour = load_behaviour(uri) if self._rank == 0 else None
        restored = Restored(client_state=state, behaviour=None if behaviour is None else _facts(behaviour))
        return self._report(start, restored), behaviour

    def export_lora(self) -> tuple[CallReport[None], bytes]:
        """The adapter as a diffusers LoRA file: its bytes, so that driver and trainer need share no disk."""
        from worker.engine.trainer.export import LORA_FILE

        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            self._engine.export_lora(folder)
            content = (Path(folder) / LORA_FILE).read_bytes() if self._rank == 0 else b""
        return self._report(start, None), content
