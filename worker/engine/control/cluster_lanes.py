"""The run's lanes on the cluster: one single-bundle placement group and one actor each.

Gang atomicity lives with whoever granted the lanes; here each lane stands alone, so a run can lose and regain one. A
lane's placement group outlives its actor: a new actor takes the same place.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.util.placement_group import PlacementGroup, placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from worker.contracts.events import LaneInfo
from worker.contracts.ingest import LaneGrant
from worker.contracts.names import LaneRole
from worker.engine.actors.lane import LaneActor
from worker.engine.actors.reports import LanePlace
from worker.engine.actors.reward import RewardActor
from worker.engine.actors.rollout import RolloutActor
from worker.engine.actors.trainer import TrainerActor
from worker.engine.control.clocks import DriverClock, LaneClock
from worker.engine.errors import EngineError

logger = logging.getLogger(__name__)

LaneActors = Mapping[LaneRole, type[LaneActor]]
ACTOR_CLASSES: LaneActors = {
    LaneRole.ROLLOUT: RolloutActor,
    LaneRole.TRAINER: TrainerActor,
    LaneRole.REWARD: RewardActor,
}
PLACE_TIMEOUT_SECONDS = 120.0
CLOCK_TIMEOUT_SECONDS = 5.0
HEED_SECONDS = 0.2


class LanePlacementError(EngineError):
    """A lane that was granted found no place on the cluster."""


@dataclass(slots=True)
class LaneHandle:
    """One lane: its grant, its actor of the moment, and how its clock maps to the driver's."""

    grant: LaneGrant
    group: PlacementGroup
    actor: Any
    place: LanePlace | None = None
    clock: LaneClock = field(default_factory=LaneClock)
    num_restarts: int = 0

    @property
    def name(self) -> str:
        return self.grant.lane

    @property
    def info(self) -> LaneInfo:
        assert self.place is not None, "asked for after `settle`"
        return LaneInfo(
            lane=self.name,
            role=self.grant.role,
            node=self.grant.node,
            device=self.grant.device,
            pid=self.place.pid,
        )


class ClusterLanes:
    """Starts, finds, restarts and ends the lanes. Holds nothing on the cluster before `open` and after `close`."""

    def __init__(
        self, grants: Sequence[LaneGrant], clock: DriverClock, actor_classes: LaneActors = ACTOR_CLASSES
    ) -> None:
        self._grants = tuple(grants)
        self._actor_classes = actor_classes
        self._clock = clock
        self._handles: dict[str, LaneHandle] = {}

    def open(self) -> None:
        """Ask the cluster for every lane at once; `settle` waits for them."""
        for grant in self._grants:
            group = placement_group([_bundle(grant)], strategy="PACK")
            self._handles[grant.lane] = LaneHandle(grant, group, self._start_actor(grant, group))

    def __getitem__(self, lane: str) -> LaneHandle:
        return self._handles[lane]

    def names(self, role: LaneRole | None = None) -> list[str]:
        """Lanes, of one role or all, in the order of the grants; the first trainer is rank 0."""
        return [grant.lane for grant in self._grants if role in (None, grant.role)]

    def infos(self) -> tuple[LaneInfo, ...]:
        """Where every lane is that has landed."""
        return tuple(handle.info for handle in self._handles.values() if handle.place is not None)

    def settle(self, lanes: Collection[str], poll_web: Callable[[], None]) -> None:
        """Wait until the actors of `lanes` are placed and alive, and measure their clocks.

        Args:
            lanes: some or all of the fleet.
            heed: called now and then meanwhile; what it raises ends the wait.

        Raises:
            LanePlacementError: when a lane found no place in `PLACE_TIMEOUT_SECONDS`.
        """
        placing = {self._handles[name].actor.place.remote(): self._handles[name] for name in lanes}
        late = list(placing)
        deadline = time.monotonic() + PLACE_TIMEOUT_SECONDS
        while late and time.monotonic() < deadline:
            _, late = ray.wait(list(placing), num_returns=len(placing), timeout=HEED_SECONDS)
            poll_web()
        if late:
            names = ", ".join(placing[ref].name for ref in late)
            raise LanePlacementError(
                f"no place for {names} within {PLACE_TIMEOUT_SECONDS:.0f} s: the cluster must have the resources "
                "that were granted; check that its nodes are up and not used by others"
            )
        for ref, handle in placing.items():
            handle.place = ray.get(ref).value
        self.measure_clocks(lanes)

    def measure_clocks(self, lanes: Iterable[str]) -> None:
        """Probe the clocks of lanes that have nothing under way; a lane that does not answer keeps its offset."""
        for name in lanes:
            handle = self._handles[name]
            sent = self._clock.now()
            try:
                reading = ray.get(handle.actor.clock.remote(), timeout=CLOCK_TIMEOUT_SECONDS)
            except (ray.exceptions.GetTimeoutError, ray.exceptions.RayActorError):
                # A dead lane shows itself at its next call; its clock is not what to report it by.
                logger.warning("lane %s did not answer a clock probe", name)
                continue
            handle.clock.measure(sent, reading, self._clock.now())

    def restart(self, lane: str) -> LaneHandle:
        """Put a new actor in a lost lane's place. Its clock is new too."""
        handle = self._handles[lane]
        self.kill(lane)
        handle.actor = self._start_actor(handle.grant, handle.group)
        handle.place = None
        handle.clock = LaneClock()
        handle.num_restarts += 1
        return handle

    def kill(self, lane: str) -> None:
        """End a lane's actor at once, dead or alive; its placement group stays."""
        ray.kill(self._handles[lane].actor, no_restart=True)

    def close(self) -> None:
        """Free everything the lanes hold on the cluster."""
        while self._handles:
            _, handle = self._handles.popitem()
            ray.kill(handle.actor, no_restart=True)
            remove_placement_group(handle.group)

    def _start_actor(self, grant: LaneGrant, group: PlacementGroup) -> Any:
        """The actor of a lane, being started; calls to it wait until it is up."""
        strategy = PlacementGroupSchedulingStrategy(placement_group=group, placement_group_bundle_index=0)
        actor_class = self._actor_classes[grant.role]
        remote_class = ray.remote(concurrency_groups=actor_class.concurrency_groups)(actor_class)
        return remote_class.options(
            num_cpus=grant.num_cpus,
            resources=dict.fromkeys(grant.resources, 1.0),
            scheduling_strategy=strategy,
            max_restarts=0,
        ).remote(grant.lane, grant.device)


def _bundle(grant: LaneGrant) -> dict[str, float]:
    return {"CPU": grant.num_cpus, **dict.fromkeys(grant.resources, 1.0)}
