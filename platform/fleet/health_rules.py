"""Judges a GPU by what its driver counts against it. Pure.

Sources: NVIDIA's Xid catalog (docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html, immediate actions) and its
guide to row remapping (docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt). A code that an application causes is no fault
of the card, however often it comes: 11,760 times Xid 45, the clean-up after another error, says nothing by itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from worker.contracts.node_reports import GpuFaults


class Health(StrEnum):
    HEALTHY = "healthy"
    WARNING = "warning"
    """Works on, and wants to be looked at."""
    FAILED = "failed"
    """Gives wrong results or none, so it is taken out of service."""


class Remedy(StrEnum):
    """What its vendor recommends."""

    NONE = "none"
    TEST = "test the GPU"
    COOL = "check cooling and power"
    RESET = "reset the GPU"
    REBOOT = "reboot the node"
    REPLACE = "replace the GPU"


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing that ails a GPU. Two are equal if they are the same ailment, whatever it has grown to."""

    text: str
    health: Health
    remedy: Remedy


@dataclass(frozen=True, slots=True)
class Verdict:
    health: Health = Health.HEALTHY
    causes: tuple[str, ...] = ()
    remedy: Remedy = Remedy.NONE


XIDS: Mapping[int, Cause] = MappingProxyType(
    {
        code: Cause(f"Xid {code}: {text}", health, remedy)
        for code, text, health, remedy in (
            (46, "the GPU stopped processing", Health.FAILED, Remedy.RESET),
            (48, "double-bit error in memory", Health.FAILED, Remedy.RESET),
            (62, "its micro-controller halted", Health.FAILED, Remedy.RESET),
            (64, "a bad row of memory could not be replaced", Health.FAILED, Remedy.REPLACE),
            (74, "NVLink error", Health.FAILED, Remedy.RESET),
            (79, "fallen off the bus", Health.FAILED, Remedy.REBOOT),
            (92, "many single-bit errors in memory", Health.WARNING, Remedy.NONE),
            (94, "contained memory error", Health.WARNING, Remedy.RESET),
            (95, "uncontained memory error", Health.FAILED, Remedy.RESET),
            (109, "context switch timed out", Health.FAILED, Remedy.RESET),
            (110, "security fault", Health.FAILED, Remedy.RESET),
            (119, "its system processor did not answer", Health.FAILED, Remedy.RESET),
            (120, "its system processor failed", Health.FAILED, Remedy.RESET),
            (140, "unrecovered memory error", Health.FAILED, Remedy.RESET),
            (143, "it could not be initialised", Health.FAILED, Remedy.RESET),
        )
    }
)
"""Codes that say something about the card. All others are an application's doing (13, 31, 43, 45, 68 …) or a record of
a repair that worked (63)."""
_LIMITS_THAT_ARE_SET = frozenset({"software power cap", "power cap", "sync boost"})
"""Reasons of reduced clocks that are settings; all others are heat or power supply."""
_ORDER = list(Health)
_REMEDIES = list(Remedy)


def judge(faults: GpuFaults, before: GpuFaults, *, slow_at: str = "") -> Verdict:
    """The verdict on what was counted since `before`, when the card was last put into service.

    `slow_at` names the work at which a run found it slower than its peers; empty for none.
    """
    causes = _causes(faults, before)
    if slow_at:
        # Last, since it may be what the others come to.
        causes.append(Cause(f"slower than its peers: {slow_at}", Health.WARNING, Remedy.TEST))
    if not causes:
        return Verdict()
    return Verdict(
        health=max((cause.health for cause in causes), key=_ORDER.index),
        causes=tuple(cause.text for cause in causes),
        remedy=max((cause.remedy for cause in causes), key=_REMEDIES.index),
    )


def worrying(throttle_reasons: Sequence[str]) -> list[str]:
    """Those reasons of reduced clocks that heat or power supply cause."""
    return sorted(reason for reason in set(throttle_reasons) if reason not in _LIMITS_THAT_ARE_SET)


def _causes(faults: GpuFaults, before: GpuFaults) -> list[Cause]:
    """What ails the card, the worst first."""
    found = [cause for code, cause in XIDS.items() if _since(faults.xids.get(code), before.xids.get(code))]
    if faults.is_lost:
        found.append(Cause("its driver does not reach it", Health.FAILED, Remedy.REBOOT))
    if faults.remap_failed:
        found.append(Cause("no spare row of memory is left", Health.FAILED, Remedy.REPLACE))
    if faults.remap_pending:
        found.append(Cause("bad rows of memory wait for a reset", Health.WARNING, Remedy.RESET))
    elif _since(faults.ecc_uncorrected, before.ecc_uncorrected):
        found.append(Cause("uncorrectable memory errors", Health.WARNING, Remedy.RESET))
    if faults.recovery_action:
        found.append(Cause(f"its driver asks for: {faults.recovery_action}", Health.WARNING, Remedy.RESET))
    found += [
        Cause(f"clocks are reduced: {reason}", Health.WARNING, Remedy.COOL)
        for reason in worrying(faults.throttle_reasons)
    ]
    return sorted(found, key=lambda cause: -_ORDER.index(cause.health))


def _since(now: int | None, before: int | None) -> int:
    """How much a counter has grown; all of it where it began anew, which is when the driver or the agent did."""
    counted, known = now or 0, before or 0
    return counted - known if counted >= known else counted
