"""The further GPUs of a rollout lane: they make their parts of the predictions of the lane's own process.

```text
load ─► join: all loaded ─► one torch.distributed group
bind (on every rank, read back, compared) ─► following ─► every prediction on every rank ─► bind …
```
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from ray import ObjectRef

from worker.contracts.run_spec import RunSpec
from worker.engine.actors.follow_watch import FollowWatch
from worker.engine.actors.follower import FollowerActor
from worker.engine.actors.lane_followers import LaneFollowers
from worker.engine.errors import SyncError
from worker.engine.types import PublishedVersion, PullReceipt

if TYPE_CHECKING:
    from worker.engine.context_parallel.calls import SpreadCalls
    from worker.engine.models.base import ModelAdapter

logger = logging.getLogger(__name__)


class GenerationFollowers(LaneFollowers):
    """The followers of one rollout lane, ranks 1 and up of its group."""

    _calls: "SpreadCalls"

    def __init__(self, lane: str, devices: Sequence[str], actor_class: type[FollowerActor] = FollowerActor) -> None:
        super().__init__(lane, devices, actor_class)

    def load(self, spec: RunSpec, base_model_path: str) -> None:
        """Let the followers begin to load; `join` waits for them."""
        self._loading = {rank: actor.load.remote(spec, base_model_path) for rank, actor in self._actors.items()}

    def join(self, model: "ModelAdapter") -> None:
        """As `Followers.join`. Raises `LaneSpreadError` for a follower that could not load."""
        from worker.engine.context_parallel.calls import SpreadCalls
        from worker.engine.context_parallel.lane_group import join_group, open_store
        from worker.engine.context_parallel.spreading import lane_mesh, spread

        for rank, loading in self._loading.items():
            self._check_seen(rank, self._value(rank, loading))
        store = open_store(self.size)
        joining = {rank: actor.join.remote(rank, self.size, store.port) for rank, actor in self._actors.items()}
        join_group(0, self.size, store)
        spread(model.transformer, lane_mesh(model.device, self.size))
        for rank, joined in joining.items():
            self._value(rank, joined)
        self._calls = SpreadCalls(model.transformer, self.size)
        logger.info("predictions are spread over the %d GPUs of the lane", self.size)

    def bind(
        self, own: Callable[[], PullReceipt], version: PublishedVersion, *, evaluated: bool = False
    ) -> PullReceipt:
        """As `Followers.bind`; each rank fetches the shards itself.

        Raises:
            SyncError: where another number of tensors or another checksum is read back from a follower.
            LaneSpreadError: where a follower cannot bind the version.
        """
        binding = {rank: actor.bind.remote(version, evaluated=evaluated) for rank, actor in self._actors.items()}
        receipt = own()
        for rank, bound in binding.items():
            theirs: PullReceipt = self._value(rank, bound)
            if theirs != receipt:
                raise SyncError(
                    f"{self._name(rank)} must bind policy version {receipt.policy_version} as the first GPU did, "
                    f"{receipt.num_bound_tensors} tensors with sha256 {receipt.sha256}, got version "
                    f"{theirs.policy_version}, {theirs.num_bound_tensors} tensors with sha256 {theirs.sha256}"
                )
        return receipt

    @contextmanager
    def following(self) -> Iterator[None]:
        """As `Followers.following`. Raises `LaneSpreadError` for a follower that fails."""
        refs = {rank: actor.follow.remote() for rank, actor in self._actors.items()}
        watch = FollowWatch(refs, on_failure=self._end_all)
        self._calls.begin()
        try:
            try:
                yield
            finally:
                if not self._calls.is_broken:
                    self._calls.end()
        except BaseException as error:
            if self._calls.is_broken:
                self._break(watch, error)
            self._settle(watch, refs)
            raise
        self._settle(watch, refs)

    def _settle(self, watch: FollowWatch, refs: dict[int, ObjectRef]) -> None:
        """Wait until the followers have returned, which they were told to."""
        watch.stop()
        for rank, ref in refs.items():
            self._value(rank, ref)

    def _break(self, watch: FollowWatch, error: BaseException) -> NoReturn:
        """Raise the cause of a prediction that was not made on every rank: a follower's, else this process's own."""
        failures = watch.failures()
        self._end_all()
        if failures:
            raise self._failure(failures) from error
        raise error
