"""The run's lanes on the cluster: one single-bundle placement group and one actor each.

The web grants a run all of its first lanes or none; here each lane is independent, so a run can lose and regain one,
grow and shrink. A lane's placement group outlives its actor, so a restarted actor gets the same resources, whatever its
role is then. Kept lanes outlive their driver too, by name, for the run's next attempt to go on with.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import ray
from ray import ObjectRef
from ray.util.placement_group import PlacementGroup, placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from worker.contracts.device_masks import entries
from worker.contracts.ingest import BootstrapAnswer
from worker.contracts.lanes import CPU_DEVICE, NODE_ID_LABEL, LaneGrant, LaneInfo
from worker.contracts.names import LaneRole
from worker.engine.actors.lane import LaneActor
from worker.engine.actors.reports import CallProgress, LaneLocation, OpenCollective
from worker.engine.actors.reward import RewardActor
from worker.engine.actors.rollout import RolloutActor
from worker.engine.actors.trainer import TrainerActor
from worker.engine.control.clocks import MAX_ROUND_TRIP_SECONDS, DriverClock, LaneClock
from worker.engine.control.collective_answers import AskedLane, ask_collectives
from worker.engine.control.lane_attendance import LaneAttendance
from worker.engine.control.lane_process import end_at
from worker.engine.control.shared_cards import as_shared, card_to_share
from worker.engine.control.surviving_lanes import LaneNames, take_survivors
from worker.engine.errors import EngineError
from worker.engine.forkserver.server_start import LAUNCH

logger = logging.getLogger(__name__)

LaneActors = Mapping[LaneRole, type[LaneActor]]
ACTOR_CLASSES: LaneActors = {
    LaneRole.ROLLOUT: RolloutActor,
    LaneRole.TRAINER: TrainerActor,
    LaneRole.REWARD: RewardActor,
}
PLACEMENT_TIMEOUT_SECONDS = 120.0
"""How long the cluster may take to place and start the lanes' actors, whose processes take seconds each on a busy node:
the web has granted free resources, so longer means that something else uses them."""
FIRST_PROBE_SECONDS = 60.0
"""How long the first clock probe of a lane may take. The lane was up a moment ago, so it answers at once unless its
node has no core for it; without an offset none of its reports could be placed in time."""
POLL_SECONDS = 0.2
"""How often the web's commands are read while the driver waits for the cluster, so that a cancel takes effect soon."""


class LanePlacementError(EngineError):
    """The cluster did not place a lane that was granted."""


class LanesLostError(EngineError):
    """Lanes that the run cannot do without were on nodes that have died. The run has not failed: another attempt goes
    on from its last checkpoint on other lanes."""


@dataclass(slots=True)
class LaneHandle:
    """What a lane holds on the cluster, and how its clock maps to the driver's."""

    group: PlacementGroup
    actor: Any
    """The handle of the lane's current Ray actor."""
    location: LaneLocation | None = None
    """The host and process of the actor; `None` until it is up."""
    clock: LaneClock = field(default_factory=LaneClock)
    num_restarts: int = 0
    """The number of times that the actor was restarted in this attempt because it was lost."""
    num_actors: int = 1
    """The number of actors that the lane has had in this attempt."""
    shares: str | None = None
    """The lane whose card a reward lane computes on."""
    is_moving: bool = False
    """Whether the actor was ended because the card that it shared is not to be shared any more."""

    def see(self, uuids: Sequence[str]) -> None:
        """Record the accelerators that the actor sees."""
        if self.location is not None:
            self.location = replace(self.location, uuids=tuple(uuids))


class ClusterLanes:
    """Starts, restarts and ends the lanes. Holds nothing on the cluster before `open` and after `close`."""

    def __init__(
        self,
        grants: Sequence[LaneGrant],
        clock: DriverClock,
        actor_classes: LaneActors = ACTOR_CLASSES,
        *,
        forks: bool = False,
        kept_for: BootstrapAnswer | None = None,
        shares_cards: bool = False,
    ) -> None:
        """
        Args:
            grants: the run's lanes.
            clock: the driver's.
            actor_classes: of the lanes, by role.
            forks: whether processes of lanes without an accelerator are forked from one that has their libraries.
            kept_for: the attempt whose lanes outlive this driver, and which goes on with those that an earlier one has
                left; `None` where they end with it.
            shares_cards: whether reward lanes without an accelerator compute on those of other lanes on their node.
        """
        self._forks, self._shares_cards = forks, shares_cards
        self._kept_for = kept_for
        self._kept_as = None if kept_for is None else LaneNames(kept_for.run, kept_for.attempt)
        self._attendance = LaneAttendance(self._attended)
        self._grants = {grant.lane: grant for grant in grants}
        """By lane, also before `open`; a changed role is in it."""
        self._actor_classes = actor_classes
        self._clock = clock
        self._handles: dict[str, LaneHandle] = {}

    def open(self) -> None:
        """Request every lane from the cluster at once but those that have survived; `wait_until_up` waits for all."""
        survivors = {} if self._kept_for is None else take_survivors(self._kept_for)
        for grant in list(self._grants.values()):
            survivor = survivors.get(grant.lane)
            if survivor is None:
                self.add(grant)
            else:
                logger.info("lane %s goes on in the process that an earlier attempt has left", grant.lane)
                self._handles[grant.lane] = LaneHandle(survivor.group, survivor.actor)
        if self._kept_as is not None:
            self._attendance.begin()

    def add(self, grant: LaneGrant) -> None:
        """Request a lane from the cluster. Its location is unknown until it is up."""
        where = [{NODE_ID_LABEL: grant.ray_node_id}] if grant.ray_node_id else None
        kept = {"name": self._kept_as.group(grant.lane), "lifetime": "detached"} if self._kept_as else {}
        group = placement_group([_bundle(grant)], strategy="PACK", bundle_label_selector=where, **kept)
        self._grants[grant.lane] = grant
        shares = self._card_for(grant)
        self._handles[grant.lane] = LaneHandle(group, self._start_actor(grant, group, 0, shares), shares=shares)

    def remove(self, lane: str) -> None:
        """End a lane's actor, dead or alive, and free all that the lane holds on the cluster."""
        handle = self._handles.pop(lane)
        del self._grants[lane]
        ray.kill(handle.actor, no_restart=True)
        self._move_sharers(lane)
        remove_placement_group(handle.group)

    def __getitem__(self, lane: str) -> LaneHandle:
        return self._handles[lane]

    def names(self, role: LaneRole | None = None) -> list[str]:
        """The names of the lanes of one role, or of all, in the order of the grants. Trainer lanes begin as ranks in
        that order; `TrainerGang.lanes` has the ranks."""
        return [grant.lane for grant in self._grants.values() if role in (None, grant.role)]

    def role(self, lane: str) -> LaneRole:
        return self._grants[lane].role

    def num_gpus(self, lane: str) -> int:
        """The number of GPUs that the lane computes on; 1 for a CPU slot."""
        return len(entries(self._placed(lane).device))

    def num_gpus_beside(self, lane: str) -> int:
        """The number of GPUs of the lane whose card this one shares; 1 where it shares none."""
        shares = self._handles[lane].shares
        return 1 if shares is None else self.num_gpus(shares)

    def uuids(self, lane: str) -> tuple[str, ...]:
        """The UUIDs of the GPUs that the lane was granted or shares; empty where these are none, or go by index."""
        return self._placed(lane).uuids

    def roles(self) -> dict[str, LaneRole]:
        """The role of every lane."""
        return {grant.lane: grant.role for grant in self._grants.values()}

    def own_roles(self) -> dict[str, LaneRole]:
        """As `roles`, without the lanes that are borrowed."""
        return {grant.lane: grant.role for grant in self._grants.values() if not grant.is_borrowed}

    def profiles(self) -> dict[str, str]:
        """The planner's profiles of the lanes that have joined the run at work, where they have one."""
        return {grant.lane: grant.profile for grant in self._grants.values() if grant.profile}

    def on_dead_nodes(self, lanes: Iterable[str]) -> list[str]:
        """Those of `lanes` that were granted on nodes which Ray does not count as alive any more."""
        alive = {node["NodeID"] for node in ray.nodes() if node["Alive"]}
        return [lane for lane in lanes if (node := self._grants[lane].ray_node_id) and node not in alive]

    def infos(self) -> tuple[LaneInfo, ...]:
        """Device, host and process of every lane that is up."""
        found = []
        for lane, handle in self._handles.items():
            if handle.location is not None:
                grant, at = self._placed(lane), handle.location
                info = LaneInfo(
                    lane=lane,
                    role=grant.role,
                    node=grant.node,
                    device=grant.device,
                    pid=at.pid,
                    uuids=at.uuids,
                    shares=handle.shares,
                )
                found.append(info)
        return tuple(found)

    def wait_until_up(
        self, lanes: Collection[str], poll_web: Callable[[], None], on_up: Callable[[Sequence[str]], None]
    ) -> None:
        """Wait until the actors of `lanes` are placed and alive, and measure the clock of each as it comes up.

        Args:
            lanes: names of some or all of the run's lanes.
            poll_web: called every `POLL_SECONDS` meanwhile; what it raises ends the wait.
            on_up: called with the lanes that have come up since the last call, whose location and clock are known.

        Raises:
            LanesLostError: when the node of such a lane has died.
            LanePlacementError: when a lane is not up within `PLACEMENT_TIMEOUT_SECONDS`.
        """
        starting = {self._handles[lane].actor.location.remote(): lane for lane in lanes}
        pending = list(starting)
        deadline = time.monotonic() + PLACEMENT_TIMEOUT_SECONDS
        while pending and time.monotonic() < deadline:
            up, pending = ray.wait(pending, num_returns=len(pending), timeout=POLL_SECONDS)
            if up:
                self._take_locations({starting[ref]: ref for ref in up})
                on_up([starting[ref] for ref in up])
            poll_web()
            if dead := self.on_dead_nodes(lanes):
                raise LanesLostError(f"the nodes of {', '.join(dead)} have died")
        if pending:
            names = ", ".join(starting[ref] for ref in pending)
            raise LanePlacementError(
                f"the cluster must place {names} within {PLACEMENT_TIMEOUT_SECONDS:.0f} s, got no answer: check that "
                "its nodes are up and that nothing else uses the resources that were granted"
            )

    def _take_locations(self, answers: Mapping[str, ObjectRef]) -> None:
        """Take the locations of lanes from their answers, and measure their clocks while they are idle."""
        for lane, answer in answers.items():
            self._handles[lane].location = ray.get(answer).value
        self.measure_clocks(answers)

    def measure_clocks(self, lanes: Iterable[str]) -> None:
        """Probe the clocks of idle lanes. A lane that does not answer in time keeps its offset; one
        without an offset is ended, and its loss is handled where its next call fails."""
        for name in lanes:
            handle = self._handles[name]
            # A later probe that took longer would not be used, and the driver waits.
            timeout = MAX_ROUND_TRIP_SECONDS if handle.clock.is_measured else FIRST_PROBE_SECONDS
            sent = self._clock.now()
            try:
                reading = ray.get(handle.actor.clock.remote(), timeout=timeout)
            except ray.exceptions.GetTimeoutError:
                if not handle.clock.is_measured:
                    logger.warning("lane %s did not answer within %.0f s of its start: it is ended", name, timeout)
                    self.kill(name)
            except ray.exceptions.RayActorError:
                logger.warning("lane %s is lost: it did not answer a clock probe", name)
            else:
                handle.clock.measure(sent, reading, self._clock.now())

    def restart(self, lane: str) -> None:
        """Start a new actor on a lost lane's resources. Its location and clock are unknown until it is up."""
        handle = self._handles[lane]
        was_moved, handle.is_moving = handle.is_moving, False
        self.replace_actor(lane, self.role(lane))
        handle.num_restarts += not was_moved

    def replace_actor(self, lane: str, role: LaneRole) -> None:
        """End a lane's actor, dead or alive, and start one for `role` on the lane's resources. Its location and clock
        are unknown until it is up."""
        handle = self._handles[lane]
        self.kill(lane)
        before = self._grants[lane].role
        grant = self._grants[lane] = self._grants[lane].model_copy(update={"role": role})
        handle.shares = None
        handle.shares = self._card_for(grant)
        handle.actor = self._start_actor(grant, handle.group, handle.num_actors, handle.shares)
        handle.num_actors += 1
        if role is not before:
            self._move_sharers(lane)
        handle.location = None
        handle.clock = LaneClock()

    def kill(self, lane: str) -> None:
        """End a lane's actor at once, dead or alive; its placement group stays."""
        ray.kill(self._handles[lane].actor, no_restart=True)

    def ask_progress(self, lane: str) -> ObjectRef:
        """Ask a lane how far it is, without waiting for the answer."""
        call: ObjectRef = self._handles[lane].actor.progress.remote()
        return call

    def progress_told(self, call: ObjectRef) -> CallProgress | None:
        """What the lane has answered; `None` before it has, and from one that has died, whose calls tell of that."""
        ready, _ = ray.wait([call], timeout=0)
        try:
            told: CallProgress | None = ray.get(call) if ready else None
        except ray.exceptions.RayActorError:
            return None
        return told

    def open_collectives(self, lane: str) -> dict[str, tuple[OpenCollective, ...] | None]:
        """The collectives that a lane waits in, and for a trainer lane those of all ranks, as `ask_collectives`."""
        asked = self.names(LaneRole.TRAINER) if self.role(lane) is LaneRole.TRAINER else [lane]
        return ask_collectives(
            {
                name: AskedLane(
                    actor=self._handles[name].actor,
                    location=self._handles[name].location,
                    num_gpus=self.num_gpus(name),
                )
                for name in asked
            }
        )

    def end_process(self, lane: str) -> None:
        """End a lane's process that does not hear of `kill`; its actor is lost with it."""
        location = self._handles[lane].location
        self.kill(lane)
        if location is not None:
            end_at(location)

    def close(self) -> None:
        """Free everything the lanes hold on the cluster."""
        self._attendance.end()
        while self._handles:
            _, handle = self._handles.popitem()
            ray.kill(handle.actor, no_restart=True)
            remove_placement_group(handle.group)

    def _attended(self) -> list[Any]:
        """The actors that are up; one that is not could not hear it, and would have to catch up on it later."""
        return [handle.actor for handle in list(self._handles.values()) if handle.location is not None]

    def _card_for(self, grant: LaneGrant) -> str | None:
        """The lane whose card a lane is to compute on; `None` for one with a card of its own, or on the CPU."""
        if not self._shares_cards or grant.role is not LaneRole.REWARD or grant.device != CPU_DEVICE:
            return None
        taken = [handle.shares for handle in self._handles.values() if handle.shares is not None]
        card = card_to_share(grant, self._grants.values(), taken)
        if card is None:
            logger.warning("lane %s scores on the CPU: node %s has no GPU free to share", grant.lane, grant.node)
            return None
        return card.lane

    def _move_sharers(self, lane: str) -> None:
        """End the reward lanes that share the card of a lane which has left, or has another role. Their loss is noticed
        where their next call fails; they are started again on another card, and score again what they had."""
        for name, handle in self._handles.items():
            if handle.shares == lane:
                logger.warning("lane %s is started again on another card than that of %s", name, lane)
                handle.is_moving = True
                self.kill(name)

    def _placed(self, lane: str) -> LaneGrant:
        """The grant of a lane, with the card that it shares."""
        grant, handle = self._grants[lane], self._handles.get(lane)
        card = None if handle is None or handle.shares is None else self._grants.get(handle.shares)
        return grant if card is None else as_shared(grant, card)

    def _start_actor(self, grant: LaneGrant, group: PlacementGroup, number: int, shares: str | None) -> Any:
        """Start the actor of a lane and return its handle; calls to it wait until it is up.

        Args:
            grant: the lane's.
            group: its placement group.
            number: of actors that the lane has had in this attempt.
            shares: the lane on whose card it computes, if any.
        """
        if shares is not None:
            grant = as_shared(grant, self._grants[shares])
        strategy = PlacementGroupSchedulingStrategy(placement_group=group, placement_group_bundle_index=0)
        actor_class = self._actor_classes[grant.role]
        remote_class = ray.remote(concurrency_groups=actor_class.concurrency_groups)(actor_class)
        is_forked = self._forks and grant.device == CPU_DEVICE
        names = self._kept_as
        kept = {"name": names.actor(grant.lane, number), "lifetime": "detached"} if names else {}
        return remote_class.options(
            num_cpus=grant.num_cpus,
            runtime_env={"py_executable": LAUNCH} if is_forked else None,
            resources=dict.fromkeys(grant.resources, 1.0),
            scheduling_strategy=strategy,
            max_restarts=0,
            **kept,
        ).remote(grant.lane, grant.device, bool(kept))


def _bundle(grant: LaneGrant) -> dict[str, float]:
    """The resources of a lane's placement group."""
    return {"CPU": grant.num_cpus, **dict.fromkeys(grant.resources, 1.0)}
