"""Names of the numbers that NVML answers, and units (`nvml.h`; NVML API Reference Guide, docs.nvidia.com/deploy)."""

from collections.abc import Iterable
from typing import Any

_ARCHITECTURES = {
    2: "Kepler",
    3: "Maxwell",
    4: "Pascal",
    5: "Volta",
    6: "Turing",
    7: "Ampere",
    8: "Ada",
    9: "Hopper",
    10: "Blackwell",
    13: "Rubin",
}
"""`NVML_DEVICE_ARCH_*`."""
_THROTTLE_REASONS = {
    0x4: "software power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
}
"""`nvmlClocksEventReason*`, without idling (0x1), clocks set by an application (0x2) and by a display (0x100)."""
_RECOVERY_ACTIONS = {
    1: "reset GPU",
    2: "reboot node",
    3: "drain peer-to-peer traffic",
    4: "drain, then reset GPU",
    5: "recover IMEX domain",
    6: "reset bus",
    7: "reboot system",
}
"""`NVML_GPU_RECOVERY_ACTION_*`, without none (0)."""
_UNION_MEMBERS = {0: "dVal", 1: "uiVal", 2: "ulVal", 3: "ullVal", 4: "sllVal", 5: "siVal", 6: "usVal"}
"""The member of `c_nvmlValue_t` that holds the value, by `NVML_VALUE_TYPE_*`."""
WORD_BITS = 64
"""Bits of a word of NVML's masks, an unsigned long."""


def architecture_name(number: int | None) -> str:
    """Empty for one that is unknown here."""
    return _ARCHITECTURES.get(number or 0, "")


def throttle_reasons(bits: int) -> tuple[str, ...]:
    """Why clocks are reduced, by the bit mask that NVML answers."""
    return tuple(reason for bit, reason in _THROTTLE_REASONS.items() if bits & bit)


def recovery_action(number: float | None) -> str:
    """Empty for none, and for one that is unknown here."""
    return _RECOVERY_ACTIONS.get(int(number or 0), "")


def field_number(field: Any) -> float | None:
    """The number of a `c_nvmlFieldValue_t`; `None` where the card does not offer it."""
    member = _UNION_MEMBERS.get(field.valueType)
    return None if field.nvmlReturn != 0 or member is None else getattr(field.value, member)


def pci_address(bus_id: str) -> str:
    """`0000:1b:00.0` of NVML's `00000000:1B:00.0`, whose domain has more digits than Linux writes."""
    domain, _, rest = bus_id.lower().partition(":")
    return f"{int(domain, 16):04x}:{rest}" if rest else ""


def lowest_bit(words: Iterable[int]) -> int | None:
    """The first bit set of a mask in words, the lowest first; `None` if none is."""
    for number, word in enumerate(words):
        if word:
            return number * WORD_BITS + (word & -word).bit_length() - 1
    return None


def cuda_version(number: int | None) -> str:
    """`CUDA 12.4` of 12040, as NVML counts."""
    return "" if number is None else f"CUDA {number // 1000}.{number % 1000 // 10}"


def thousandth(value: int | None) -> float | None:
    """Watts of milliwatts, joules of millijoules."""
    return None if value is None else value / 1000


def total(*values: float | None) -> int | None:
    """The sum of what is known; `None` where nothing is."""
    known = [value for value in values if value is not None]
    return int(sum(known)) if known else None
