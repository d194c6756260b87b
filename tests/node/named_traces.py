"""Traces with a name, of what happens to a node's GPUs. Their faults follow NVIDIA's description of the Xid codes
(docs.nvidia.com/deploy/xid-errors).

Each takes the word by which its GPUs' UUIDs differ from those of other nodes.
"""

from collections.abc import Callable
from pathlib import Path

from tests.node.traces import GIB, Reading, busy, cards, lost, replaced, with_faults, with_live, write_trace
from worker.contracts.node_reports import GpuReport

FALL_SECONDS = 5.0
"""After which faults come."""
STORM = 11_760
"""Xid 45 on one card that no hardware caused (NVSentinel#1748)."""


def healthy_h100x4(prefix: str) -> list[Reading]:
    """Four linked cards; two begin to work after 2 s."""
    idle = cards("H100", 4, prefix=prefix)
    return [(0, idle), (2, [busy(idle[0]), busy(idle[1]), *idle[2:]])]


def xid79_falls_off_bus(prefix: str) -> list[Reading]:
    """Card 2 falls off the bus at work, and no longer answers."""
    working = [busy(card) for card in cards("H100", 4, prefix=prefix)]
    return [(0, working), (FALL_SECONDS, replaced(working, 2, lost(working[2], xids={79: 1})))]


def xid79_comes_back(prefix: str) -> list[Reading]:
    """As `xid79_falls_off_bus`; after a reset the card answers again, 5 s later."""
    idle = cards("H100", 4, prefix=prefix)
    back = replaced(idle, 2, with_faults(idle[2], xids={79: 1}))
    return [*xid79_falls_off_bus(prefix), (2 * FALL_SECONDS, back)]


def xid45_storm(prefix: str) -> list[Reading]:
    """Card 1 counts Xid 45 by the thousand, as when processes are ended again and again: no fault of its own."""
    working = [busy(card) for card in cards("H100", 4, prefix=prefix)]
    storm: list[Reading] = [
        (FALL_SECONDS + quarter, replaced(working, 1, with_faults(working[1], xids={45: STORM * quarter // 4})))
        for quarter in range(1, 5)
    ]
    return [(0, working), *storm]


def ecc_remap_failure(prefix: str) -> list[Reading]:
    """Card 0 degrades: corrected errors, an uncorrectable one contained (Xid 94) with a row to be remapped (Xid 63),
    then no spare row is left (Xid 64)."""
    working = [busy(card) for card in cards("A100", 4, prefix=prefix)]
    corrected = with_faults(working[0], ecc_corrected=180)
    contained = with_faults(corrected, ecc_uncorrected=1, xids={63: 1, 94: 1}, remapped_rows=1, remap_pending=True)
    worse = with_faults(contained, ecc_corrected=412, ecc_uncorrected=3, xids={63: 1, 64: 1, 94: 3})
    failed = with_faults(worse, remap_failed=True, recovery_action="reset GPU")
    return [
        (0, working),
        (2, replaced(working, 0, corrected)),
        (FALL_SECONDS, replaced(working, 0, contained)),
        (2 * FALL_SECONDS, replaced(working, 0, failed)),
    ]


def thermal_throttle(prefix: str) -> list[Reading]:
    """Card 3 grows hot, loses a third of its clock, and cools down again. The others are at their power cap, as cards
    at work often are, which is no fault."""
    at_work = [busy(card) for card in cards("H100", 4, prefix=prefix)]
    working = [with_faults(card, throttle_reasons=("software power cap",)) for card in at_work]
    hot = with_live(working[3], temperature=89.0, memory_temperature=95.0, sm_clock=1305.0, power=430.0)
    slowed = with_faults(hot, throttle_reasons=("hardware slowdown", "hardware thermal slowdown"))
    return [(0, working), (FALL_SECONDS, replaced(working, 3, slowed)), (4 * FALL_SECONDS, working)]


def mig_slices(prefix: str) -> list[Reading]:
    """Card 0 is cut into slices of 3g.40gb, 2g.20gb and two of 1g.10gb; card 1 is whole. Neither has a peer."""
    card, whole = (
        each.model_copy(update={"topology": each.topology.model_copy(update={"nvlink_peers": ()})})
        for each in cards("H100", 2, prefix=prefix)
    )
    sizes = ((3, 40), (2, 20), (1, 10), (1, 10))
    return [(0, [*(_slice(card, number, *size) for number, size in enumerate(sizes)), whole])]


def driver_fails(prefix: str) -> list[Reading]:
    """The driver stops answering after 5 s, and answers again 5 s later."""
    idle = cards("H100", 4, prefix=prefix)
    return [(0, idle), (FALL_SECONDS, "NVML: Unknown Error"), (2 * FALL_SECONDS, idle)]


TRACES: dict[str, Callable[[str], list[Reading]]] = {
    build.__name__: build
    for build in (
        healthy_h100x4,
        xid79_falls_off_bus,
        xid79_comes_back,
        xid45_storm,
        ecc_remap_failure,
        thermal_throttle,
        mig_slices,
        driver_fails,
    )
}


def write_named_trace(name: str, folder: Path, prefix: str = "node") -> str:
    """Write one of `TRACES` for `TANDEM_GPU_TRACE`; returns its path."""
    return write_trace(folder / f"{name}-{prefix}.jsonl", *TRACES[name](prefix))


def _slice(card: GpuReport, number: int, compute: int, memory_gib: int) -> GpuReport:
    identity = card.identity.model_copy(
        update={
            "uuid": f"MIG-{card.identity.uuid.removeprefix('GPU-')}-{number}",
            "model": f"{card.identity.model} MIG {compute}g.{memory_gib}gb",
            "memory_bytes": memory_gib * GIB,
            "parent_uuid": card.identity.uuid,
        }
    )
    return with_live(card.model_copy(update={"identity": identity}), utilisation=None)
