"""`python -m tests.bench.publishing`: a version from its snapshot until every rollout lane has bound it, by both ways.

The actors are those of a run, on one node and without a model: one trainer rank publishes weights of a given size, and
rollout lanes pull and read them back. The two ways take turns, so that what else the machine does falls on both. A
version that is broadcast counts as bound before its copy is in the object store, as in a run; the next begins after
that. Between GPUs the same is measured by the stage `broadcasts` of `make bench-gpu`.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import ray

from tests.engine.driving import local_cluster
from worker.contracts.names import Publishing
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.actors.rollout import RolloutActor
from worker.engine.actors.trainer import TrainerActor
from worker.engine.sync.broadcast_plan import BroadcastPlan, DoneBroadcast, ShardLayout
from worker.engine.types import BindableVersion, PullReceipt

MB = 10**6
SIZES_MB = (32, 523)
"""A LoRA of rank 32 on FLUX.1 or SD3.5, and one of rank 128 on Wan2.1-14B, in round numbers."""
TENSOR_BYTES = MB
"""A tensor of a large LoRA."""
WARM_UP_ROUNDS = 1
OUTPUT = Path("var/bench/publishing.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Medians over the rounds, in seconds."""

    mb: int
    num_lanes: int
    way: Publishing
    publish: float
    """Until the version may be pulled."""
    bound: float
    """Until every lane has bound it."""
    slowest: float
    """The same in the slowest round."""


class SizedRank:
    """What a trainer actor asks of its rank when it publishes."""

    def __init__(self, num_bytes: int) -> None:
        import torch

        from worker.engine.sync.shards import split_into_shards

        self._weights = _parameters(num_bytes, torch.randn)
        self._shards = split_into_shards(self._weights)

    def snapshot(self) -> dict[int, Any]:
        from worker.engine.sync.packing import snapshot

        return {index: snapshot(self._of(names)) for index, names in enumerate(self._shards)}

    @property
    def shard_layouts(self) -> tuple[ShardLayout, ...]:
        from worker.engine.sync.flat_shards import layout_of

        return tuple(layout_of(self._of(names)) for names in self._shards)

    def _of(self, names: tuple[str, ...]) -> Mapping[str, Any]:
        return {name: self._weights[name] for name in names}


class SizedSampler:
    """What a rollout actor asks of its sampler when it pulls."""

    def __init__(self, num_bytes: int) -> None:
        import torch

        self._live = _parameters(num_bytes, torch.zeros)

    def pull(self, version: Any, received: BindableVersion | None = None) -> PullReceipt:
        from worker.engine.sync.binding import bind

        return bind(self._live, version if received is None else received)


def _parameters(num_bytes: int, made: Callable[..., Any]) -> dict[str, Any]:
    import torch

    number, numel = num_bytes // TENSOR_BYTES, TENSOR_BYTES // 4
    return {f"block.{index}": torch.nn.Parameter(made(numel)) for index in range(number)}


class SizedTrainer(TrainerActor):
    concurrency_groups: ClassVar = TrainerActor.concurrency_groups

    def load_sized(self, num_bytes: int) -> None:
        from worker.engine.sync.host_staging import HostStaging

        self._trainer_rank = SizedRank(num_bytes)  # type: ignore[assignment]  # It has what publishing asks for.
        self._staging = HostStaging()


class SizedRollout(RolloutActor):
    concurrency_groups: ClassVar = RolloutActor.concurrency_groups

    def load_sized(self, num_bytes: int) -> None:
        from worker.engine.devices.selection import resolve_device
        from worker.engine.sync.broadcast_receiver import BroadcastReceiver

        self._sampler = SizedSampler(num_bytes)  # type: ignore[assignment]  # It has what a pull asks for.
        self._receiver = BroadcastReceiver(self.lane, resolve_device(None))


class Lanes:
    """A trainer lane and its rollout lanes."""

    def __init__(self, num_bytes: int, num_lanes: int) -> None:
        self._trainer = _started(SizedTrainer, "trainer-0")
        self._rollout = {f"rollout-{index}": _started(SizedRollout, f"rollout-{index}") for index in range(num_lanes)}
        ray.get([lane.load_sized.remote(num_bytes) for lane in (self._trainer, *self._rollout.values())])
        endpoint = ray.get(self._trainer.open_broadcasts.remote()).value
        self._plan = BroadcastPlan(number=1, sources=(endpoint,), lanes=tuple(self._rollout))
        self._version = 0

    def publish(self, way: Publishing) -> tuple[float, float]:
        """Seconds until a new version may be pulled, and until every lane has bound it."""
        self._version += 1
        ray.get(self._trainer.snapshot.remote(self._version))
        began, sent, done = time.perf_counter(), None, None
        if way is Publishing.DIRECT:
            for lane in self._rollout.values():
                lane.receive.remote(self._plan, self._version)
            sent = self._trainer.broadcast.remote(self._version, self._plan, 0)
            done = DoneBroadcast(number=1, lanes=self._plan.lanes)
        num_shards = len(self._plan.layouts)
        stored, *refs = self._trainer.publish.options(num_returns=1 + num_shards).remote(self._version)
        if sent is None:
            infos = ray.get(stored).value
        else:
            report = ray.get(sent).value
            assert not report.failure, report.failure
            infos = report.shards
        published = time.perf_counter()
        version = RemoteVersion(
            policy_version=self._version, shard_infos=tuple(infos), refs=tuple(refs), broadcast=done
        )
        for pulled in ray.get([lane.pull.remote(version) for lane in self._rollout.values()]):
            assert pulled.value.sha256 == version.sha256 and pulled.value.is_direct == (sent is not None)
        bound = time.perf_counter()
        ray.get(stored)
        return published - began, bound - began

    def close(self) -> None:
        for lane in (self._trainer, *self._rollout.values()):
            ray.kill(lane)


def _started(actor: type[Any], lane: str) -> Any:
    remote_class = ray.remote(concurrency_groups=actor.concurrency_groups)(actor)
    return remote_class.options(num_cpus=0).remote(lane, "cpu")


def measure(mb: int, num_lanes: int, num_rounds: int) -> list[Row]:
    """Both ways for one size."""
    lanes, found = Lanes(mb * MB, num_lanes), {way: list[tuple[float, float]]() for way in Publishing}
    for number in range(WARM_UP_ROUNDS + num_rounds):
        for way in Publishing:
            seconds = lanes.publish(way)
            if number >= WARM_UP_ROUNDS:
                found[way].append(seconds)
    lanes.close()
    return [
        Row(
            mb=mb,
            num_lanes=num_lanes,
            way=way,
            publish=statistics.median(published for published, _ in seconds),
            bound=statistics.median(bound for _, bound in seconds),
            slowest=max(bound for _, bound in seconds),
        )
        for way, seconds in found.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    rows = list[Row]()
    with local_cluster(num_cpus=2, resources={}):
        for mb in SIZES_MB:
            for num_lanes in arguments.lanes:
                rows += measure(mb, num_lanes, arguments.rounds)
    for row in rows:
        print(
            f"{row.mb:4d} MB to {row.num_lanes} lanes, {row.way:6s}: published after {row.publish:.3f} s, bound after "
            f"{row.bound:.3f} s (at most {row.slowest:.3f} s)"
        )
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps([asdict(row) for row in rows], indent=1))


if __name__ == "__main__":
    main()
