"""A trainer lane: one rank of the run's torch.distributed group, or one for each of its GPUs; it may be lent to
generation.

`rendezvous`, `switch`, `pull`, `generate`, `accumulate`, `broadcast` and `publish` are called on single ranks; every
other method is called on all ranks alike, or the collectives inside would wait for ever. So is `accumulate` in ZeRO 2
and 3, with other micro-batches but equally many passes on each rank.

```text
thread of the actor   … commit ─► snapshot ─► accumulate (the next batch) …
thread for publishing                 └─► [broadcast ─►] publish ─► this rank's shards of the version
```

This process is the rank of the lane's first GPU. It has the others make each call, too, and publishes for all of them.
"""

import socket
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import ray

from worker.contracts.context_parallel import training_problem
from worker.contracts.device_masks import entries
from worker.contracts.names import LaneRole
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.actors.generating import GeneratingActor
from worker.engine.actors.lane import WATCHING
from worker.engine.actors.remote_version import PUBLISHING, PUBLISHING_GROUP, RemoteVersion, take_snapshot
from worker.engine.actors.reports import (
    AccumulationPlan,
    BroadcastReport,
    CallReport,
    GroupPlan,
    Rendezvous,
    RestoredCheckpoint,
)
from worker.engine.actors.training_followers import TrainingFollowers
from worker.engine.errors import BroadcastError, ModelLoadError
from worker.engine.load_keys import training_key
from worker.engine.sync.broadcast_plan import BroadcastEndpoint, BroadcastPlan
from worker.engine.types import (
    GenerationRequest,
    GroupBatch,
    PublishedShard,
    PullReceipt,
    ShardInfo,
    UpdateStats,
)

if TYPE_CHECKING:
    from worker.engine.sync.broadcast_sender import BroadcastSender
    from worker.engine.sync.host_staging import HostStaging
    from worker.engine.trainer.policy.trained_policy import ShardSnapshots
    from worker.engine.trainer.rank import TrainerRank
    from worker.engine.transport.packed_trajectories import PackedTrajectories
    from worker.engine.transport.parts import Part


def assemble_groups(plans: Sequence[GroupPlan], parts: "Sequence[PackedTrajectories]") -> list[GroupBatch]:
    """The groups of `plans` with their parts of trajectories, which are passed flat and in order.

    Raises:
        ValueError: when the number of parts is not the sum of `num_parts`.
    """
    num_planned = sum(plan.num_parts for plan in plans)
    if num_planned != len(parts):
        raise ValueError(f"`parts` must hold {num_planned} parts of trajectories as planned, got {len(parts)}")
    remaining = iter(parts)
    return [
        GroupBatch(
            batch=plan.batch,
            group=plan.group,
            trajectories=tuple(next(remaining).unpacked() for _ in range(plan.num_parts)),
            advantages=plan.advantages,
        )
        for plan in plans
    ]


@dataclass(frozen=True, slots=True)
class _RankPlace:
    """The place of one GPU among all that train."""

    rank: int
    world_size: int
    gpus_per_lane: int


def _shard_info(shard: PublishedShard) -> ShardInfo:
    return ShardInfo(names=tuple(shard.packed), num_bytes=shard.num_bytes, sha256=shard.sha256)


class TrainerActor(GeneratingActor):
    """One lane of the trainer gang, or a further GPU of one, whose calls are those of the first."""

    concurrency_groups: ClassVar = {**GeneratingActor.concurrency_groups, **PUBLISHING_GROUP}

    _followers: TrainingFollowers | None = None
    _gpu = 0
    """The number of this process's GPU in its lane."""
    _trainer_rank: "TrainerRank"
    _staging: "HostStaging"
    _sender: "BroadcastSender"
    _snapshot: "tuple[int, ShardSnapshots] | None" = None
    """The version of the last snapshot and this rank's shards of it, until they are published."""

    def __init__(self, lane: str, device: str, is_kept: bool = False) -> None:
        super().__init__(lane, device, is_kept)
        self._is_stored = threading.Event()
        """Unset from the broadcast of a version until it is in the object store too."""
        self._is_stored.set()

    def rendezvous(self) -> Rendezvous:
        """This node's address and a port that is free on it now; called on rank 0."""
        with socket.socket() as probe:
            probe.bind(("", 0))
            return Rendezvous(address=ray.util.get_node_ip_address(), port=probe.getsockname()[1])

    def load(
        self,
        spec: RunSpec,
        base_model_path: str,
        rank: int,
        world_size: int,
        rendezvous: Rendezvous,
        prompts: Sequence[Prompt],
        gpu: int = 0,
        gpus_per_lane: int | None = None,
    ) -> CallReport[int]:
        """Join the process group and load the model. A surviving lane has done both, with all others of its gang; what
        it holds of the attempt before is replaced or dropped where it loads the checkpoint, which comes next.

        Args:
            spec: the run's.
            base_model_path: an existing folder in diffusers layout, or a hub id.
            rank: the lane's among the trainer lanes.
            world_size: the number of trainer lanes, which have equally many GPUs.
            rendezvous: the address that the first lane chose.
            prompts: the run's prompts, encoded before the transformer is loaded.
            gpu: the number of this process's GPU in the lane.
            gpus_per_lane: the number of GPUs of each lane; by default those that this lane was granted.

        Returns:
            The number of shards of a published version, over all lanes.

        Raises:
            ModelLoadError: for a model that cannot be trained on lanes of so many GPUs, or as `TrainerRank`.
            LaneSpreadError: for a GPU that sees others than its own.
        """
        start = time.monotonic()
        key = training_key(spec, base_model_path, rank, world_size)
        if self._loaded_as == key:
            self._is_stored.set()
            return self._report(start, self._trainer_rank.num_shards)
        devices = entries(self._device)
        self._gpu, num_gpus = gpu, gpus_per_lane or len(devices)
        if problem := training_problem(spec, num_gpus):
            raise ModelLoadError(problem)
        if len(devices) > 1 and self._followers is None:
            self._followers = TrainingFollowers(self.lane, devices[1:], type(self))
        of_gpu = {"gpu": range(num_gpus), "gpus_per_lane": [num_gpus] * num_gpus}
        with self._together("load", spec, base_model_path, rank, world_size, rendezvous, prompts, **of_gpu):
            place = _RankPlace(rank * num_gpus + gpu, world_size * num_gpus, num_gpus)
            self._load_rank(place, rendezvous, spec, base_model_path, prompts)
        if self._followers is not None:
            self._followers.check_devices()
        self._loaded_as = key
        return self._report(start, self._trainer_rank.num_shards)

    def _load_rank(
        self, place: _RankPlace, rendezvous: Rendezvous, spec: RunSpec, base_model_path: str, prompts: Sequence[Prompt]
    ) -> None:
        """Join the process group and load the model as the rank of one GPU."""
        self._algebra = spec.algebra
        with self._loading():
            from worker.engine.models.prompt_encoding import run_embeddings
            from worker.engine.sync.host_staging import HostStaging
            from worker.engine.trainer.rank import TrainerRank
            from worker.engine.trainer.zero.process_group import init_process_group

            init_process_group(place.rank, place.world_size, rendezvous.address, rendezvous.port)
            embeddings = run_embeddings(spec, base_model_path, prompts)
            self._trainer_rank = TrainerRank(
                spec,
                base_model_path,
                place.rank,
                place.world_size,
                embeddings=embeddings,
                gpus_per_lane=place.gpus_per_lane,
            )
        self._staging = HostStaging()
        if self._trainer_rank.sampler is not None:
            self._sampler = self._trainer_rank.sampler

    @contextmanager
    def _together(self, method: str, *arguments: Any, **of_gpu: Sequence[Any]) -> Iterator[list[Any]]:
        """Inside the context the lane's other GPUs, if it has any, make this call, too; as
        `TrainingFollowers.calling`."""
        if self._followers is None:
            yield []
            return
        with self._followers.calling(method, *arguments, **of_gpu) as values:
            yield values

    def switch(self, to: LaneRole) -> CallReport[None]:
        """Change to generation (`to` is rollout) or back to training."""
        start = time.monotonic()
        with self._together("switch", to):
            self._trainer_rank.switch(to)
        return self._report(start, None)

    def pull(self, version: RemoteVersion) -> CallReport[PullReceipt]:
        """As `GeneratingActor.pull`, on every GPU of the lane."""
        with self._together("pull", version):
            return super().pull(version)

    def generate(self, requests: Sequence[GenerationRequest], parts: "Sequence[Sequence[Part]]") -> tuple[Any, ...]:
        """As `GeneratingActor.generate`, on every GPU of the lane; the first one returns what all have generated."""
        with self._together("generate", requests, parts):
            report, *values = super().generate(requests, parts)
        return (report,) if self._gpu else (report, *values)

    def accumulate(
        self,
        plan: AccumulationPlan,
        behaviour: RemoteVersion | None,
        *parts: "PackedTrajectories",
        refs: Sequence[ray.ObjectRef] = (),
    ) -> CallReport[UpdateStats]:
        """Forward and backward over the plan's micro-batches, whose trajectories are in `parts`; on a lane of several
        GPUs with the `refs` of the same, which its further GPUs read from the node's object store."""
        start = time.monotonic()
        with self._together("accumulate", plan, behaviour, *refs):
            stats = self._trainer_rank.accumulate(
                assemble_groups(plan.groups, parts),
                plan.micro_batches,
                num_pairs_total=plan.num_pairs_total,
                fresh=plan.fresh,
                staleness=plan.staleness,
                behaviour=behaviour,
                num_padding=plan.num_padding,
            )
        return self._report(start, stats)

    def commit(self, num_skipped_groups: int = 0) -> CallReport[dict[str, float]]:
        """Take an optimizer step. The value holds `grad_norm` and `learning_rate`."""
        start = time.monotonic()
        with self._together("commit", num_skipped_groups):
            metrics = self._trainer_rank.commit(num_skipped_groups)
        return self._report(start, metrics)

    def snapshot(self, policy_version: int) -> CallReport[None]:
        """Copy this rank's shards of the trained weights, for `publish`."""
        start = time.monotonic()
        # There is memory for the copies of one version.
        self._is_stored.wait()
        with self._together("snapshot", policy_version):
            self._snapshot = policy_version, self._trainer_rank.snapshot()
        return self._report(start, None)

    def open_broadcasts(self) -> CallReport[BroadcastEndpoint | None]:
        """Wait for lanes to broadcast to, on a port of this node."""
        start = time.monotonic()
        from worker.engine.devices.selection import resolve_device
        from worker.engine.sync.broadcast_sender import BroadcastSender

        address = ray.util.get_node_ip_address()
        self._sender = BroadcastSender(address, resolve_device(None), self._trainer_rank.memory)
        layouts = self._trainer_rank.shard_layouts
        return self._report(start, BroadcastEndpoint(address=address, port=self._sender.port, layouts=layouts))

    @ray.method(concurrency_group=PUBLISHING)
    def broadcast(self, policy_version: int, plan: BroadcastPlan, source: int) -> CallReport[BroadcastReport]:
        """Broadcast this rank's shards of the last snapshot, as the plan's `source`; `publish` comes next. What goes
        wrong between the members is reported, and never raised.

        Raises:
            SyncError: when the last snapshot is of another version.
        """
        start = time.monotonic()
        from worker.engine.sync.packing import shard_info

        copies = take_snapshot(self._snapshot, policy_version)
        self._is_stored.clear()
        infos, failure, absent = dict[int, ShardInfo](), "", tuple[str, ...]()
        try:
            self._sender.send(
                plan,
                source,
                policy_version,
                copies,
                beside=lambda index: infos.update({index: shard_info(copies[index])}),
            )
        except BroadcastError as error:
            failure, absent = str(error), error.lanes
        shards = tuple(infos.get(index) or shard_info(copies[index]) for index in sorted(copies))
        return self._report(start, BroadcastReport(shards=shards, failure=failure, absent=absent))

    @ray.method(concurrency_group=WATCHING)
    def stop_broadcasts(self, number: int, reason: str) -> None:
        """As `BroadcastSender.stop`."""
        self._sender.stop(number, reason)

    @ray.method(concurrency_group=PUBLISHING)
    def publish(self, policy_version: int) -> tuple[Any, ...]:
        """Pack this rank's shards of the last snapshot, on a thread beside training.

        Returns:
            A `CallReport` of `ShardInfo`s for the driver, then as many shards for the rollout lanes, each a Ray return
            value of its own.

        Raises:
            SyncError: when the last snapshot is of another version.
            DeviceMemoryError: for too little memory.
        """
        start = time.monotonic()
        copies = take_snapshot(self._snapshot, policy_version)
        # The last version's bytes have reached the object store: its call has returned on this thread.
        self._staging.begin()
        shards = self._trainer_rank.packed(copies, policy_version, self._staging)
        self._snapshot = None
        self._is_stored.set()
        return self._report(start, tuple(_shard_info(shard) for shard in shards)), *shards

    def save_checkpoint(
        self, uri: str, client_state: dict[str, Any], behaviour: RemoteVersion | None
    ) -> CallReport[int]:
        """Write a checkpoint. The value is the number of bytes that this lane wrote."""
        start = time.monotonic()
        with self._together("save_checkpoint", uri, client_state, behaviour) as others:
            num_bytes = self._trainer_rank.save_checkpoint(uri, client_state, behaviour)
        return self._report(start, num_bytes + sum(others))

    def load_checkpoint(self, uris: Sequence[str]) -> tuple[Any, ...]:
        """Load the first of `uris` that is not damaged.

        Returns:
            A `CallReport` of `RestoredCheckpoint` for the driver, then a value for each shard of a version: the shards
            of the older version that is stored with the checkpoint, on rank 0, or `None`.
        """
        start = time.monotonic()
        with self._together("load_checkpoint", uris):
            state = self._trainer_rank.load_checkpoint(*uris)
        restored = RestoredCheckpoint(
            uri=state.uri,
            client_state=state.client_state,
            behaviour_version=state.behaviour[0].policy_version if state.behaviour else None,
            behaviour_shards=tuple(_shard_info(shard) for shard in state.behaviour),
        )
        return self._report(start, restored), *(state.behaviour or [None] * self._trainer_rank.num_shards)

    def export(self) -> tuple[CallReport[None], dict[str, bytes]]:
        """The weights as files in diffusers format, by path, so that driver and trainer need not share a disk. Only
        rank 0 returns files."""
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            with self._together("export"):
                self._trainer_rank.export(folder)
            files = {
                str(file.relative_to(folder)): file.read_bytes()
                for file in sorted(Path(folder).rglob("*"))
                if file.is_file()
            }
        return self._report(start, None), files
