"""An emulated trainer rank: it checks the micro-batches it is given as strictly as a real one, then waits."""

import json
import time
from collections.abc import Sequence
from typing import Any, ClassVar

import fsspec
import ray

from worker.contracts.names import LaneRole
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.actors.remote_version import PUBLISHING, PUBLISHING_GROUP, RemoteVersion, take_snapshot
from worker.engine.actors.reports import (
    AccumulationPlan,
    CallReport,
    GroupPlan,
    Rendezvous,
    RestoredCheckpoint,
)
from worker.engine.emulated.generator import EmulatedGenerator
from worker.engine.emulated.values import EmulatedShard, EmulatedTrajectories, make_shard
from worker.engine.errors import MinibatchError
from worker.engine.transport.parts import micro_batches_of_group
from worker.engine.types import ShardInfo, UpdateStats
from worker.scheduling.core.costs import GANG, CostKind
from worker.scheduling.core.messages import MicroBatchKey

CHECKPOINT_FILE = "client_state.json"


class EmulatedTrainer(EmulatedGenerator):
    """One rank of an emulated trainer gang."""

    concurrency_groups: ClassVar = {**EmulatedGenerator.concurrency_groups, **PUBLISHING_GROUP}

    _snapshot: tuple[int, int] | None = None
    """The version of the last snapshot and the bytes of its weights, until it is published."""

    def rendezvous(self) -> Rendezvous:
        """An address that is never used, since emulated ranks form no process group."""
        return Rendezvous(address="localhost", port=0)

    def load(
        self,
        spec: RunSpec,
        base_model_path: str,
        rank: int,
        world_size: int,
        rendezvous: Rendezvous,
        prompts: Sequence[Prompt],
    ) -> CallReport[int]:
        start = time.monotonic()
        self._spec, self._rank = spec, rank
        self._micro_batches = micro_batches_of_group(spec.algebra)
        self._open_micro_batches: set[tuple[int, MicroBatchKey]] = set()
        self._trained_version = 0
        self._timing.wait_until_due(start, GANG, CostKind.START)
        return self._report(start, 1)

    def open_broadcasts(self) -> CallReport[None]:
        """Emulated versions go through the object store alone."""
        return self._report(time.monotonic(), None)

    def switch(self, to: LaneRole) -> CallReport[None]:
        start = time.monotonic()
        self._timing.wait_until_due(start, self.lane, CostKind.LEND if to is LaneRole.ROLLOUT else CostKind.RECLAIM)
        return self._report(start, None)

    def accumulate(
        self, plan: AccumulationPlan, behaviour: RemoteVersion | None, *parts: EmulatedTrajectories
    ) -> CallReport[UpdateStats]:
        start = time.monotonic()
        self._check_plan(plan, behaviour, parts)
        num_passes = len(plan.micro_batches) + plan.num_padding
        # In ZeRO 2 and 3 every pass contains a collective.
        lane = GANG if self._spec.deepspeed.zero_stage >= 2 else self.lane
        self._timing.wait_until_due(start, lane, CostKind.ACCUMULATE, num_passes)
        num_pairs = sum(len(self._micro_batches[key.index].pairs) for key in plan.micro_batches)
        stats = UpdateStats(
            num_pairs=num_pairs,
            sums={"loss": 0.0, "ratio": float(num_pairs), "clipped": 0.0, "squared_mean_error": 0.0},
            maxima={"mean_error": 0.0, "ratio_deviation": 0.0, "replay_ratio_deviation": 0.0},
            histograms={"mean_error": (num_pairs,)},
        )
        return self._report(start, stats)

    def commit(self, num_skipped_groups: int = 0) -> CallReport[dict[str, float]]:
        start = time.monotonic()
        num_groups = self._spec.algebra.num_groups_per_minibatch - num_skipped_groups
        number, most = len(self._open_micro_batches), num_groups * len(self._micro_batches)
        if number > most:
            raise MinibatchError(
                f"a rank's micro-batches of {num_groups} groups that are not skipped must be ≤ {most}, got {number}"
            )
        self._open_micro_batches.clear()
        self._timing.wait_until_due(start, GANG, CostKind.COMMIT)
        return self._report(start, {"grad_norm": 1.0, "learning_rate": self._spec.optimizer.learning_rate})

    def snapshot(self, policy_version: int) -> CallReport[None]:
        start = time.monotonic()
        self._trained_version = policy_version
        self._snapshot = policy_version, self.emulation.adapter_num_bytes
        self._timing.wait_until_due(start, GANG, CostKind.SNAPSHOT)
        return self._report(start, None)

    @ray.method(concurrency_group=PUBLISHING)
    def publish(self, policy_version: int) -> tuple[CallReport[tuple[ShardInfo, ...]], EmulatedShard]:
        start = time.monotonic()
        shard = make_shard(policy_version, take_snapshot(self._snapshot, policy_version))
        self._snapshot = None
        self._timing.wait_until_due(start, GANG, CostKind.PUBLISH)
        return self._report(start, (shard.info,)), shard

    def save_checkpoint(
        self, uri: str, client_state: dict[str, Any], behaviour: RemoteVersion | None
    ) -> CallReport[int]:
        start = time.monotonic()
        if self._rank != 0:
            self._timing.wait_until_due(start, GANG, CostKind.CHECKPOINT)
            return self._report(start, 0)
        version = None if behaviour is None else behaviour.policy_version
        content = json.dumps({"client_state": client_state, "behaviour": version})
        with fsspec.open(f"{uri}/{CHECKPOINT_FILE}", "w", auto_mkdir=True) as file:
            file.write(content)
        self._timing.wait_until_due(start, GANG, CostKind.CHECKPOINT)
        return self._report(start, len(content))

    def load_checkpoint(self, uris: Sequence[str]) -> tuple[CallReport[RestoredCheckpoint], EmulatedShard | None]:
        start = time.monotonic()
        with fsspec.open(f"{uris[0]}/{CHECKPOINT_FILE}", "r") as file:
            saved = json.load(file)
        self._trained_version = saved["client_state"]["policy_version"]
        version = saved["behaviour"]
        behaviour = None if version is None else make_shard(version, self.emulation.adapter_num_bytes)
        infos = () if behaviour is None else (behaviour.info,)
        restored = RestoredCheckpoint(
            uri=uris[0], client_state=saved["client_state"], behaviour_version=version, behaviour_shards=infos
        )
        self._timing.wait_until_due(start, GANG, CostKind.RESTORE)
        return self._report(start, restored), behaviour if self._rank == 0 else None

    def export(self) -> tuple[CallReport[None], dict[str, bytes]]:
        return self._report(time.monotonic(), None), {"pytorch_lora_weights.safetensors": b"emulated"}

    def _check_plan(
        self, plan: AccumulationPlan, behaviour: RemoteVersion | None, parts: Sequence[EmulatedTrajectories]
    ) -> None:
        """Raise `MinibatchError` unless each micro-batch is new in its mini-batch, and the parts hold its members,
        generated by the version that the plan's staleness gives."""
        version = self._trained_version - plan.staleness
        if plan.needs_behaviour and (behaviour is None or behaviour.policy_version != version):
            raise MinibatchError(f"the replay gate needs the weights of version {version}, got {behaviour}")
        remaining = iter(parts)
        for group in plan.groups:
            own = [next(remaining) for _ in range(group.num_parts)]
            if len(group.advantages) != self._spec.batch.group_size:
                raise MinibatchError(f"group {group.group} needs {self._spec.batch.group_size} advantages")
            for key in plan.micro_batches or (MicroBatchKey(plan.groups[0].group, 0),):
                if key.group == group.group:
                    self._check_parts(group, key, own, version)
        keys = {(plan.groups[0].batch, key) for key in plan.micro_batches}
        if len(keys) < len(plan.micro_batches) or keys & self._open_micro_batches:
            raise MinibatchError(f"each micro-batch must enter its mini-batch once, got twice one of {sorted(keys)}")
        self._open_micro_batches |= keys

    def _check_parts(
        self, group: GroupPlan, key: MicroBatchKey, parts: Sequence[EmulatedTrajectories], version: int
    ) -> None:
        """Raise `MinibatchError` unless `parts` hold the members of a micro-batch, which all must need."""
        algebra = self._spec.algebra
        needed = {pair // algebra.num_trained_denoising_steps for pair in self._micro_batches[key.index].pairs}
        if algebra.num_trained_members is not None:
            needed = set(range(algebra.group_size))
        held = [each for each in parts if key.index in each.part.micro_batches]
        found = {(each.fragment.key.batch, each.fragment.key.group, each.fragment.policy_version) for each in parts}
        members = {member for each in held for member in each.part.members}
        if found != {(group.batch, group.group, version)} or not needed <= members:
            raise MinibatchError(
                f"{key} of batch {group.batch} needs members {sorted(needed)} of version {version}, "
                f"got {[(each.fragment, each.part) for each in parts]}"
            )
