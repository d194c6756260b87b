"""What webhooks are told of runs, inside the transaction that changed them."""

from django.conf import settings

from hooks.hook_events import HookEvent
from hooks.outbox import announce
from runs.models import Run, RunTransition
from worker.contracts.events import RewardHackingEvent
from worker.contracts.states import RunState

_TOLD = {
    RunState.PAUSED: HookEvent.RUN_PAUSED,
    RunState.COMPLETED: HookEvent.RUN_COMPLETED,
    RunState.STOPPED: HookEvent.RUN_STOPPED,
    RunState.CANCELLED: HookEvent.RUN_CANCELLED,
    RunState.FAILED: HookEvent.RUN_FAILED,
}
"""States that are told of, from whatever state the run comes."""
_WORDS = {
    HookEvent.RUN_STARTED: "has started",
    HookEvent.RUN_RESUMED: "goes on",
    HookEvent.RUN_RESTARTED: "lost its driver and starts again",
    HookEvent.RUN_PAUSED: "is paused",
    HookEvent.RUN_COMPLETED: "is completed",
    HookEvent.RUN_STOPPED: "is stopped",
    HookEvent.RUN_CANCELLED: "is cancelled",
    HookEvent.RUN_FAILED: "has failed",
}


def event_of(old: str, new: str) -> HookEvent | None:
    """The event that a transition is; `None` for one that nobody is told of."""
    if new == RunState.RUNNING:
        return HookEvent.RUN_RESUMED if old == RunState.PAUSED else HookEvent.RUN_STARTED
    if new == RunState.STARTING:
        return None if old == RunState.QUEUED else HookEvent.RUN_RESTARTED
    if new == RunState.QUEUED:
        return HookEvent.RUN_RESUMED if old == RunState.STOPPED else None
    return _TOLD.get(RunState(new))


def tell_of_transition(run: Run, transition: RunTransition) -> None:
    event = event_of(transition.old, transition.new)
    if event is None:
        return
    reason = f": {transition.reason}" if transition.reason else ""
    announce(
        event,
        text=f"{run.name} ({run.project.name}) {_WORDS[event]}{reason}",
        path=f"/runs/{run.pk}",
        project=run.project,
        run=_run(run),
        old_state=transition.old,
        reason=transition.reason,
        actor=transition.actor,
    )


def tell_of_reward_hacking(run: Run, event: RewardHackingEvent) -> None:
    suspected = "is suspected" if event.suspected else "is no longer suspected"
    announce(
        HookEvent.HACKING_SUSPECTED if event.suspected else HookEvent.HACKING_OVER,
        text=f"Reward hacking {suspected} in {run.name} ({run.project.name}), at batch {event.batch}: "
        f"look at how {event.monitored} goes, and at the samples",
        path=f"/runs/{run.pk}",
        project=run.project,
        run=_run(run),
        batch=event.batch,
        num_batches=event.num_batches,
        monitored=event.monitored,
        optimised_change=event.optimised_change.model_dump(mode="json"),
        monitored_change=event.monitored_change.model_dump(mode="json"),
    )


def _run(run: Run) -> dict[str, str | int]:
    return {
        "id": str(run.pk),
        "name": run.name,
        "state": run.state,
        "attempt": run.attempt,
        "url": f"{settings.TANDEM_PUBLIC_URL}/api/v1/runs/{run.pk}",
    }
