"""Remembers a node's GPUs, so that one that stops answering is reported lost instead of being left out."""

from collections.abc import Collection, Iterable

from worker.contracts.node_reports import GpuLive, GpuReport


class KnownGpus:
    """The GPUs of the last reading, the lost ones among them."""

    def __init__(self) -> None:
        self._known: dict[str, GpuReport] = {}

    @property
    def has_lost(self) -> bool:
        return any(report.faults.is_lost for report in self._known.values())

    def with_lost(self, seen: Iterable[GpuReport], answering: Collection[str]) -> tuple[GpuReport, ...]:
        """What was seen now, and as lost what was known before of cards that do not answer.

        A device that is gone from a card that answers is forgotten: it was a MIG slice, or the card itself before it
        was cut into slices.

        Args:
            seen: the reports of this reading.
            answering: UUIDs of the cards that answered.
        """
        lost = {uuid: _lost(report) for uuid, report in self._known.items() if card_uuid(report) not in answering}
        self._known = lost | {report.identity.uuid: report for report in seen}
        return tuple(sorted(self._known.values(), key=lambda report: (report.identity.index, report.identity.uuid)))


def card_uuid(report: GpuReport) -> str:
    """The UUID of the card: a slice's is its parent's."""
    return report.identity.parent_uuid or report.identity.uuid


def _lost(report: GpuReport) -> GpuReport:
    faults = report.faults.model_copy(update={"is_lost": True, "throttle_reasons": ()})
    return report.model_copy(update={"live": GpuLive(), "faults": faults})
