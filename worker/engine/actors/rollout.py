"""A rollout lane: generates fragments and pulls versions between them, never inside one. A lane of several GPUs spreads
each prediction over them, where the spec says so; this process is the first of them.

```text
thread of the actor    … generate ─► pull: bind what was received, or what the object store has ─► generate …
thread that receives   … receive ─────┘
```
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import ray

from worker.contracts.device_masks import entries
from worker.contracts.names import Publishing
from worker.contracts.performance import ContextParallel
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.actors.follower import FollowerActor
from worker.engine.actors.generating import GeneratingActor
from worker.engine.actors.generation_followers import GenerationFollowers
from worker.engine.actors.lane import WATCHING
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.actors.reports import CallReport
from worker.engine.load_keys import generating_key
from worker.engine.sync.broadcast_plan import BroadcastPlan
from worker.engine.types import PullReceipt

if TYPE_CHECKING:
    from worker.engine.sync.broadcast_receiver import BroadcastReceiver

RECEIVING = "receiving"
"""The name of the concurrency group of `receive`."""

logger = logging.getLogger(__name__)


class RolloutActor(GeneratingActor):
    concurrency_groups: ClassVar = {**GeneratingActor.concurrency_groups, RECEIVING: 1}

    _receiver: "BroadcastReceiver | None" = None
    """Where versions are broadcast."""
    _followers: GenerationFollowers | None = None
    """The lane's other GPUs, where predictions are spread over them."""
    follower_class: ClassVar = FollowerActor
    """The class of the actors of the lane's other GPUs."""

    def load(self, spec: RunSpec, base_model_path: str, prompts: Sequence[Prompt]) -> CallReport[None]:
        """Load the model. The run's `prompts` are encoded first, so that text encoders and transformer are never in
        memory together. A surviving lane has it, with a version that the first `pull` replaces."""
        start = time.monotonic()
        key = generating_key(spec, base_model_path)
        if self._loaded_as == key:
            return self._report(start, None)
        self._algebra = spec.algebra
        with self._loading():
            from worker.engine.models.prompt_encoding import run_embeddings
            from worker.engine.rollout.sampler import Sampler

            self._followers = followers = self._start_followers(spec, base_model_path)
            embeddings = run_embeddings(spec, base_model_path, prompts)
            self._sampler = Sampler.load(spec, base_model_path, embeddings=embeddings, followers=followers)
            if spec.pipeline.publishing is Publishing.DIRECT:
                from worker.engine.devices.selection import resolve_device
                from worker.engine.sync.broadcast_receiver import BroadcastReceiver

                self._receiver = BroadcastReceiver(self.lane, resolve_device(None), self._sampler.memory)
        self._loaded_as = key
        return self._report(start, None)

    @ray.method(concurrency_group=RECEIVING)
    def receive(self, plan: BroadcastPlan, policy_version: int) -> None:
        """Receive a version that is broadcast, on a thread beside generation; `pull` tells what came of it."""
        assert self._receiver is not None, "made where versions are broadcast"
        self._receiver.receive(plan, policy_version)

    @ray.method(concurrency_group=WATCHING)
    def stop_broadcasts(self, number: int, reason: str) -> None:
        """As `BroadcastReceiver.stop`."""
        if self._receiver is not None:
            self._receiver.stop(number, reason)

    def pull(self, version: RemoteVersion) -> CallReport[PullReceipt]:
        """Bind a published version, the received one where a broadcast has brought it. Raises `SyncError` as
        `Sampler.pull` does."""
        done = version.broadcast
        if done is None or self.lane not in done.lanes or self._receiver is None:
            return super().pull(version)
        start = time.monotonic()
        checksums = [shard.sha256 for shard in version.shard_infos]
        with self._receiver.taken(done.number, version.policy_version, checksums) as (received, missed):
            receipt = self._sampler.pull(version, received)
        return self._report(start, replace(receipt, is_direct=received is not None, missed=missed))

    def _start_followers(self, spec: RunSpec, base_model_path: str) -> GenerationFollowers | None:
        """The lane's other GPUs, which begin to load; `None` where it has none, or they stay idle. Raises
        `ModelLoadError` for a model that cannot be spread over so many."""
        devices = entries(self._device)
        if len(devices) == 1:
            return None
        if spec.kernels.context_parallel is ContextParallel.OFF:
            logger.info("the lane computes on the first of its %d GPUs: predictions are not spread", len(devices))
            return None
        from worker.engine.context_parallel.spreading import check_spreadable
        from worker.engine.models.registry import load_model

        model = load_model(spec.base_model, base_model_path, parts=frozenset())
        check_spreadable(model, spec.sampling, len(devices))
        followers = GenerationFollowers(self.lane, devices[1:], actor_class=self.follower_class)
        followers.load(spec, base_model_path)
        return followers
