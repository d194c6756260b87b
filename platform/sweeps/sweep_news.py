"""What webhooks are told of sweeps, inside the transaction that ends one."""

from typing import Any

from django.conf import settings

from hooks.hook_events import HookEvent
from hooks.outbox import announce
from runs.models import Sweep, SweepState
from sweeps.best_points import best_points

_WORDS = {SweepState.COMPLETED.value: "is completed", SweepState.STOPPED.value: "is stopped"}


def tell_of_end(sweep: Sweep) -> None:
    """Tell that a sweep has ended, with its best point and the best run of that."""
    best = best_points([sweep]).get(sweep.pk)
    metric = sweep.plan["objective"]["metric"]
    found = "nothing was measured"
    told: dict[str, Any] | None = None
    if best is not None:
        settings_of_it = ", ".join(f"{field} {value}" for field, value in best["values"].items())
        found = f"best {metric} {best['value']:.4g} at point {best['number']} ({settings_of_it})"
        told = {**best, "metric": metric, "run": {"id": best["run"], "url": _address(f"runs/{best['run']}")}}
    reason = f" ({sweep.reason})" if sweep.reason else ""
    announce(
        HookEvent.SWEEP_FINISHED,
        text=f"The sweep {sweep.name} ({sweep.project.name}) {_WORDS[sweep.state]}{reason}: {found}",
        path=f"/sweeps/{sweep.pk}",
        project=sweep.project,
        sweep={"id": str(sweep.pk), "name": sweep.name, "state": sweep.state, "url": _address(f"sweeps/{sweep.pk}")},
        reason=sweep.reason,
        best=told,
    )


def _address(path: str) -> str:
    return f"{settings.TANDEM_PUBLIC_URL}/api/v1/{path}"
