"""The Ray executor: starts the scheduler's actions as actor calls, and turns each report into the scheduler's event.

```text
scheduler ─ action ─► start() ─► actor call ─► PendingCalls ─► report ─► checks, fragments, spans, metrics ─► on_event
```

Tensors never pass through here: pictures go from rollout to reward lanes and trajectories from rollout to trainer lanes
by reference.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import assert_never

from ray import ObjectRef

from worker.contracts.lanes import LaneWork
from worker.contracts.names import LaneRole
from worker.contracts.spans import SpanKind
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.actors.reports import AccumulationPlan, GroupPlan
from worker.engine.control.fragment_store import FragmentRecord
from worker.engine.control.pending_calls import PendingCalls, Reports
from worker.engine.control.run_components import RunComponents
from worker.engine.control.trainer_gang import TrainerGang
from worker.engine.transport.parts import FragmentParts, Part
from worker.engine.types import GenerationRequest
from worker.scheduling.core.messages import (
    Accumulate,
    Accumulated,
    Commit,
    Committed,
    Event,
    Fragment,
    FragmentKey,
    Generate,
    Generated,
    MicroBatchKey,
    Publish,
    Published,
    Pull,
    Pulled,
    Purpose,
    Score,
    Scored,
    Snapshot,
    Snapshotted,
    Switch,
    Switched,
)
from worker.scheduling.core.rules import is_resampled

LaneAction = Pull | Switch | Generate | Score | Accumulate | Commit | Snapshot | Publish
"""The actions that lanes carry out; the controller handles the others itself."""


class RayExecutor:
    """Carries out actions on the lanes; `on_event` receives the event that answers each."""

    def __init__(
        self,
        components: RunComponents,
        calls: PendingCalls,
        gang: TrainerGang,
        generators: Callable[[], LaneRole],
        on_event: Callable[[Event], None],
    ) -> None:
        """`generators`: tells the role whose lanes generate without being lent, which a plan may change."""
        self._spec = components.answer.spec
        self._lanes = components.lanes
        self._prompts = components.prompts
        self._fragments = components.fragments
        self._advantages = components.advantages
        self._versions = components.versions
        self._spans = components.spans
        self._metrics = components.metrics
        self._groups = components.groups
        self._clock = components.clock
        self._calls = calls
        self._gang = gang
        self._generators = generators
        self._on_event = on_event
        self._fragment_parts = FragmentParts(self._spec)

    def start(self, action: LaneAction) -> None:
        """Start one action; `on_event` receives its event when every lane concerned has answered."""
        match action:
            case Pull():
                self._pull(action)
            case Switch():
                self._switch(action)
            case Generate():
                self._generate(action)
            case Score():
                self._score(action)
            case Accumulate():
                self._accumulate(action)
            case Commit():
                self._commit(action)
            case Snapshot():
                self._snapshot(action)
            case Publish():
                self._publish(action)
            case _:
                assert_never(action)

    # --- rollout lanes, and trainer lanes that generate -------------------------------------------------------------

    def _switch(self, action: Switch) -> None:
        # A lane that has nothing to move does either work without being told which comes next.
        is_told = self._spec.switch_moves_memory
        refs = {action.lane: self._lanes[action.lane].actor.switch.remote(action.to)} if is_told else {}
        self._calls.start(LaneWork.SWITCH, refs, partial(self._switched, action))

    def _switched(self, action: Switch, reports: Reports) -> None:
        for lane, report in reports.items():
            self._spans.record(lane, SpanKind.SWITCH, report)
        self._on_event(Switched(action.lane, action.to))

    def _pull(self, action: Pull) -> None:
        version = self._versions[action.policy_version]
        ref = self._lanes[action.lane].actor.pull.remote(version)
        self._calls.start(LaneWork.PULL, {action.lane: ref}, partial(self._pulled, action))

    def _pulled(self, action: Pull, reports: Reports) -> None:
        report = reports[action.lane]
        self._spans.record(action.lane, SpanKind.PULL, report, policy_version=action.policy_version)
        self._versions.pulled(
            action.lane, report.value, generating_lanes=self._lanes.names(self._generators()), at=self._clock.now()
        )
        self._gang.pulled(action.lane, report.value)
        self._on_event(Pulled(action.lane, action.policy_version))

    def _generate(self, action: Generate) -> None:
        requests = [self._request(fragment) for fragment in action.fragments]
        num_ranks = len(self._gang.lanes)
        parts = [self._fragment_parts.of(fragment, num_ranks=num_ranks) for fragment in action.fragments]
        num_values = sum(1 + len(own) for own in parts)
        self._groups.generating(action.fragments)
        generate = self._lanes[action.lane].actor.generate.options(num_returns=1 + num_values)
        report, *values = generate.remote(requests, parts)
        then = partial(self._generated, action, requests, parts, values)
        self._calls.start(LaneWork.GENERATE, {action.lane: report}, then)

    def _request(self, fragment: Fragment) -> GenerationRequest:
        prompt_index, prompt = self._prompts.find(fragment.key)
        return GenerationRequest(fragment=fragment, prompt=prompt, run_seed=self._spec.seed, prompt_index=prompt_index)

    def _generated(
        self,
        action: Generate,
        requests: Sequence[GenerationRequest],
        parts: Sequence[Sequence[Part]],
        values: Sequence[ObjectRef],
        reports: Reports,
    ) -> None:
        """`values`: for each fragment its pictures, then its parts."""
        report, remaining = reports[action.lane], iter(values)
        is_lent = self._lanes.role(action.lane) is not self._generators()
        self._spans.record_generation(action.lane, report, action.fragments, is_lent=is_lent)
        for request, own_parts, generated in zip(requests, parts, report.value, strict=True):
            self._fragment_parts.observe(generated.num_bytes, num_trajectories=len(request.fragment.members))
            self._fragments.put(
                FragmentRecord(
                    fragment=request.fragment,
                    prompt=request.prompt,
                    prompt_index=request.prompt_index,
                    lane=action.lane,
                    seeds=generated.seeds,
                    images=next(remaining),
                    parts={part: next(remaining) for part in own_parts},
                )
            )
        self._on_event(Generated(action.lane, tuple(fragment.key for fragment in action.fragments)))

    # --- reward lanes -----------------------------------------------------------------------------------------------

    def _score(self, action: Score) -> None:
        record = self._fragments[action.fragment.key]
        ref = self._lanes[action.lane].actor.score.remote(action.fragment, record.prompt, record.images)
        self._calls.start(LaneWork.SCORE, {action.lane: ref}, partial(self._scored, action))

    def _scored(self, action: Score, reports: Reports) -> None:
        report, fragment = reports[action.lane], action.fragment
        key = fragment.key
        self._spans.record_fragment(action.lane, SpanKind.SCORE, report, fragment)
        self._fragments[key].scored = report.value
        has_spread = key.purpose is not Purpose.TRAIN or self._has_spread(key)
        self._on_event(Scored(action.lane, key, report.value.rewards, has_spread))
        if key.purpose is not Purpose.TRAIN:
            return
        if is_resampled(has_spread=has_spread, draw=fragment.draw, max_resamples=self._spec.batch.max_resamples):
            self._fragments.drop_group(Purpose.TRAIN, key.batch, key.group)
            self._metrics.resampled(fragment)
        else:
            self._metrics.scored(fragment)
            self._groups.scored(fragment)

    def _has_spread(self, key: FragmentKey) -> bool:
        """Whether the fragment's group has spread; also true while others of its fragments are not scored."""
        is_complete = self._fragments.is_scored(key.batch, key.group, self._spec.batch.group_size)
        return not is_complete or self._advantages.has_spread(key.batch, key.group)

    # --- trainer lanes ----------------------------------------------------------------------------------------------

    def _accumulate(self, action: Accumulate) -> None:
        needed = action.micro_batches or (self._padded_micro_batch(action),)
        parts = self._fragments.parts_for(action.batch, needed)
        version = self._fragments.version_of(action.batch)
        plan = AccumulationPlan(
            groups=tuple(
                GroupPlan(
                    batch=action.batch,
                    group=group,
                    advantages=self._advantages.of_group(action.batch, group).advantages,
                    num_parts=len(refs),
                )
                for group, refs in parts.items()
            ),
            micro_batches=action.micro_batches,
            num_padding=action.num_padding,
            num_pairs_total=self._spec.algebra.num_pairs_per_optimizer_step,
            fresh=_is_fresh(action),
            staleness=self._metrics.position.version_at(action.batch) - version,
        )
        behaviour = self._versions[version] if plan.needs_behaviour else None
        refs = [ref for of_group in parts.values() for ref in of_group]
        self._gang.accumulate(action.lane, plan, behaviour, refs, partial(self._accumulated, action))

    def _padded_micro_batch(self, action: Accumulate) -> MicroBatchKey:
        """What a rank without micro-batches makes its passes of weight 0 over: the first of a complete group."""
        num_groups = self._spec.algebra.num_groups_per_minibatch
        groups = range(action.minibatch * num_groups, (action.minibatch + 1) * num_groups)
        size = self._spec.batch.group_size
        return MicroBatchKey(next(group for group in groups if self._fragments.is_scored(action.batch, group, size)), 0)

    def _accumulated(self, action: Accumulate, reports: Reports) -> None:
        report = reports[action.lane]
        num_passes = len(action.micro_batches) + action.num_padding
        work = {"batch": action.batch, "num_units": num_passes}
        groups = {each.group for each in action.micro_batches}
        if len(groups) == 1:
            work["group"] = groups.pop()
        self._spans.record(action.lane, SpanKind.TRAIN, report, **work)
        # A pass of weight 0 is as long as another: it is made over a micro-batch, too.
        padding_seconds = (report.end - report.start) * action.num_padding / num_passes
        self._metrics.accumulated(report.value, padding_seconds=padding_seconds)
        self._on_event(Accumulated(action.lane, action.batch, action.minibatch, action.epoch, action.micro_batches))

    def _commit(self, action: Commit) -> None:
        self._metrics.require_complete(action.num_skipped_groups)
        if _is_fresh(action):
            self._metrics.check_gate(action.batch)
        self._gang.commit(action.num_skipped_groups, partial(self._committed, action))

    def _committed(self, action: Commit, reports: Reports) -> None:
        for lane, report in reports.items():
            self._spans.record(lane, SpanKind.TRAIN, report, batch=action.batch)
        self._metrics.committed(action.batch, reports[self._gang.lanes[0]].value)
        self._on_event(Committed(action.batch, action.minibatch, action.epoch))

    def _snapshot(self, action: Snapshot) -> None:
        self._gang.snapshot(action.policy_version, partial(self._snapshotted, action))

    def _snapshotted(self, action: Snapshot, reports: Reports) -> None:
        for lane, report in reports.items():
            self._spans.record(lane, SpanKind.PUBLISH, report, batch=action.batch, policy_version=action.policy_version)
        self._metrics.trained(action.batch, action.policy_version)
        self._fragments.drop(Purpose.TRAIN, action.batch)
        self._advantages.drop(action.batch)
        self._on_event(Snapshotted(action.policy_version))

    def _publish(self, action: Publish) -> None:
        self._gang.publish(action.policy_version, partial(self._published, action, self._clock.now()))

    def _published(self, action: Publish, began_at: float, version: RemoteVersion) -> None:
        self._versions.add(version, began_at=began_at)
        self._on_event(Published(action.policy_version))


def _is_fresh(action: Accumulate | Commit) -> bool:
    """Whether no optimizer step was taken on the batch yet and its replay can be checked: rollout keeps what that takes
    for the first mini-batch. Where that one is skipped for want of spread, the batch goes unchecked."""
    return action.minibatch == 0 and action.epoch == 0
