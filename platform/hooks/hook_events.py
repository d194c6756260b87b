"""What webhooks tell of."""

from django.db import models


class HookEvent(models.TextChoices):
    RUN_STARTED = "run.started"
    RUN_RESUMED = "run.resumed"
    """It works again after a pause, or waits again for lanes after its end."""
    RUN_RESTARTED = "run.restarted"
    """Its driver was lost, and the next attempt begins."""
    RUN_PAUSED = "run.paused"
    RUN_COMPLETED = "run.completed"
    RUN_STOPPED = "run.stopped"
    RUN_CANCELLED = "run.cancelled"
    RUN_FAILED = "run.failed"
    SWEEP_FINISHED = "sweep.finished"
    """It has completed or was stopped: none of its runs works any more."""
    HACKING_SUSPECTED = "reward_hacking.suspected"
    HACKING_OVER = "reward_hacking.over"
    BUDGET_NEAR = "budget.near"
    BUDGET_SPENT = "budget.spent"
    GPU_FAULTY = "gpu.faulty"
    GPU_LOST = "gpu.lost"
    GPU_FOUND = "gpu.found"
    NODE_LOST = "node.lost"
    NODE_FOUND = "node.found"


TEST = "webhook.test"
"""The event of a message that somebody asked for, to see whether it arrives."""

POOL_EVENTS = frozenset(event for event in HookEvent if event.startswith(("gpu.", "node.", "budget.")))
"""What the pool's webhooks may tell of: nothing that names a run."""
PROJECT_EVENTS = frozenset(event for event in HookEvent if not event.startswith(("gpu.", "node.")))
"""What a project's webhooks may tell of."""
