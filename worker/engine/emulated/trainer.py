"""An emulated trainer rank: it checks the groups it is given as strictly as a real one, then waits."""

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
from worker.engine.actors.reports import AccumulationPlan, CallReport, Rendezvous, RestoredCheckpoint, ShardInfo
from worker.engine.emulated.generator import EmulatedGenerator
from worker.engine.emulated.values import EmulatedShard, EmulatedTrajectories, make_shard
from worker.engine.errors import MinibatchError
from worker.engine.types import UpdateStats
from worker.scheduling.core.batching import spread
from worker.scheduling.core.costs import GANG, CostKind

CHECKPOINT_FILE = "client_state.json"


class EmulatedTrainer(EmulatedGenerator):
    """One rank of an emulated trainer gang."""

    concurrency_groups: ClassVar = PUBLISHING_GROUP

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
        self._spec, self._rank, self._world_size = spec, rank, world_size
        self._open_groups: set[tuple[int, int]] = set()
        self._num_open_pairs = self._num_pairs_total = self._trained_version = 0
        return self._report(time.monotonic(), 1)

    def switch(self, to: LaneRole) -> CallReport[None]:
        start = time.monotonic()
        self._timing.wait_until_due(start, self.lane, CostKind.LEND if to is LaneRole.ROLLOUT else CostKind.RECLAIM)
        return self._report(start, None)

    def accumulate(
        self, plan: AccumulationPlan, behaviour: RemoteVersion | None, *trajectories: EmulatedTrajectories
    ) -> CallReport[UpdateStats]:
        start = time.monotonic()
        self._check_plan(plan, behaviour, trajectories)
        micro_batches = spread(
            self._spec.algebra,
            [group.group for group in plan.groups],
            rank=self._rank,
            world_size=self._world_size,
            tsp=self._spec.pipeline.tsp,
        )
        self._timing.wait_until_due(start, GANG, CostKind.ACCUMULATE, len(micro_batches))
        num_pairs = sum(len(micro.pairs) for micro in micro_batches if micro.weight)
        stats = UpdateStats(
            num_pairs=num_pairs,
            sums={"loss": 0.0, "ratio": float(num_pairs), "clipped": 0.0},
            maxima={"mean_error": 0.0, "ratio_deviation": 0.0, "replay_ratio_deviation": 0.0},
        )
        return self._report(start, stats)

    def commit(self, num_skipped_groups: int = 0) -> CallReport[dict[str, float]]:
        start = time.monotonic()
        algebra = self._spec.algebra
        num_skipped = num_skipped_groups * algebra.num_units_per_group * algebra.num_trained_denoising_steps
        if self._num_open_pairs + num_skipped != self._num_pairs_total or not self._num_open_pairs:
            raise MinibatchError(
                f"an optimizer step needs all {self._num_pairs_total} pairs of its mini-batch but those skipped, "
                f"{num_skipped}, got {self._num_open_pairs}"
            )
        self._open_groups.clear()
        self._num_open_pairs = 0
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
            return self._report(start, 0)
        version = None if behaviour is None else behaviour.policy_version
        content = json.dumps({"client_state": client_state, "behaviour": version})
        with fsspec.open(f"{uri}/{CHECKPOINT_FILE}", "w", auto_mkdir=True) as file:
            file.write(content)
        return self._report(start, len(content))

    def load_checkpoint(self, uris: Sequence[str]) -> tuple[CallReport[RestoredCheckpoint], EmulatedShard | None]:
        start = time.monotonic()
        with fsspec.open(f"{uris[0]}/{CHECKPOINT_FILE}", "r") as file:
            saved = json.load(file)
        version = saved["behaviour"]
        behaviour = None if version is None else make_shard(version, self.emulation.adapter_num_bytes)
        infos = () if behaviour is None else (behaviour.info,)
        restored = RestoredCheckpoint(
            uri=uris[0], client_state=saved["client_state"], behaviour_version=version, behaviour_shards=infos
        )
        return self._report(start, restored), behaviour if self._rank == 0 else None

    def export(self) -> tuple[CallReport[None], dict[str, bytes]]:
        return self._report(time.monotonic(), None), {"pytorch_lora_weights.safetensors": b"emulated"}

    def _check_plan(
        self,
        plan: AccumulationPlan,
        behaviour: RemoteVersion | None,
        trajectories: Sequence[EmulatedTrajectories],
    ) -> None:
        """Raise `MinibatchError` unless each group is complete, in member order, new in its mini-batch, and generated
        by the version that the plan's staleness gives."""
        version = self._trained_version - plan.staleness
        if plan.needs_behaviour and (behaviour is None or behaviour.policy_version != version):
            raise MinibatchError(f"the replay gate needs the weights of version {version}, got {behaviour}")
        remaining = iter(trajectories)
        for group in plan.groups:
            fragments = [next(remaining).fragment for _ in range(group.num_fragments)]
            members = [member for fragment in fragments for member in fragment.members]
            found = {(fragment.key.batch, fragment.key.group, fragment.policy_version) for fragment in fragments}
            is_complete = members == list(range(self._spec.batch.group_size)) and len(group.advantages) == len(members)
            if found != {(group.batch, group.group, version)} or not is_complete:
                raise MinibatchError(
                    f"group {group.group} of batch {group.batch} must be complete and of version {version}, "
                    f"got {fragments}"
                )
            if (group.batch, group.group) in self._open_groups:
                raise MinibatchError(f"group {group.group} of batch {group.batch} was given to its mini-batch twice")
            self._open_groups.add((group.batch, group.group))
            algebra = self._spec.algebra
            self._num_open_pairs += algebra.num_units_per_group * algebra.num_trained_denoising_steps
        self._num_pairs_total = plan.num_pairs_total
