"""Reads single values out of what `amdsmi` answers.

Its functions return mappings whose keys changed between releases, and `"N/A"` or a type's largest number for what a
card does not offer.
"""

from collections.abc import Mapping
from typing import Any

from worker.contracts.base import MAX_VALUE

_NOT_AVAILABLE = {0xFFFF, 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF}
_ARCHITECTURES = {"gfx908": "CDNA", "gfx90a": "CDNA 2", "gfx942": "CDNA 3", "gfx950": "CDNA 4"}
"""Of the Instinct cards MI100, MI200, MI300 and MI350 (the ROCm documentation's table of GPU hardware)."""
_VIOLATIONS = {
    "active_prochot_thrm": "hardware slowdown",
    "active_ppt_pwr": "software power cap",
    "active_socket_thrm": "hardware thermal slowdown",
    "active_vr_thrm": "hardware thermal slowdown",
    "active_hbm_thrm": "hardware thermal slowdown",
}
"""What limits the clocks, in NVIDIA's words, by the key of `amdsmi_get_violation_status`: a signal from outside the
card, the power limit, heat of the package, of the voltage regulators, of the memory."""
XGMI = 2
"""xGMI, as `amdsmi_topo_get_link_type` answers it in every release. `AmdSmiLinkType` of the releases 6.2 to 6.4 numbers
it 1, but the function answered `AmdSmiIoLinkType` then."""
SERIAL_DIGITS = 16
MAX_CHARS = 80
"""Fewer than a report's UUID may have, its shortest text; the library's own have up to 256."""
PENDING_PAGE = 1
"""A bad page that waits to be taken out of use (`AmdSmiMemoryPageStatus.PENDING`)."""


def number(answer: Any, *keys: str) -> float | None:
    """The first of the keys that holds a number ≥ 0 that a report can hold; without keys, the answer itself."""
    mapping = answer if isinstance(answer, Mapping) else {}
    values = [mapping.get(key) for key in keys] if keys else [answer]
    return next((value for value in values if _is_known(value)), None)


def _is_known(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= MAX_VALUE and value not in _NOT_AVAILABLE


def whole(answer: Any, *keys: str) -> int | None:
    """`number` as an integer."""
    found = number(answer, *keys)
    return None if found is None else int(found)


def text(answer: Any, key: str) -> str:
    """Empty where there is none."""
    return words(answer.get(key) if isinstance(answer, Mapping) else None)


def words(value: Any) -> str:
    """A text that reports can hold; empty where there is none."""
    return value[:MAX_CHARS] if isinstance(value, str) and value != "N/A" else ""


def gpu_uuid(enumeration: Any, asic: Any, partition: int | None) -> str:
    """The UUID by which `HIP_VISIBLE_DEVICES` and `ROCR_VISIBLE_DEVICES` know the card: `GPU-` and the sixteen
    hexadecimal digits of its serial number. Empty where the driver knows none, and in its place answers zeros.

    The partitions of a card share its number: all but the first are told apart by `.` and their own.
    """
    digits = text(enumeration, "hip_uuid").removeprefix("GPU-") or text(asic, "asic_serial").lower().removeprefix("0x")
    if not digits.strip("0"):
        return ""
    return f"GPU-{digits[:SERIAL_DIGITS]}" + (f".{partition}" if partition else "")


def architecture_of(target: str) -> str:
    """Of a target such as `gfx942`; empty for one that is unknown here."""
    return _ARCHITECTURES.get(target, "")


def violations(answer: Any) -> tuple[str, ...]:
    """What limits the clocks now."""
    if not isinstance(answer, Mapping):
        return ()
    return tuple(dict.fromkeys(reason for key, reason in _VIOLATIONS.items() if answer.get(key) is True))


def joules(energy: Any) -> float | None:
    """Of a counter and the microjoules of its unit. The counter was called `power` before release 6.3."""
    count, microjoules = number(energy, "energy_accumulator", "power"), number(energy, "counter_resolution")
    if count is None or microjoules is None:
        return None
    found = count * microjoules / 1e6
    return found if found <= MAX_VALUE else None
