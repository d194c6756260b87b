"""What every reader of a node's GPUs offers."""

from typing import Protocol

from worker.contracts.node_reports import GpuReport


class ReaderError(Exception):
    """The driver does not answer; the message is the driver's own."""


class NoDriverError(ReaderError):
    """The node has no driver of this vendor, or the driver knows no GPU."""


class GpuReader(Protocol):
    """Reads the GPUs of this node. Made once for a process, since it counts events from then on."""

    def read(self) -> tuple[GpuReport, ...]:
        """Every GPU as it is now, MIG slices in place of the cards that are cut into them.

        A card that was there before and fails alone is reported lost, with what was known of it, until it answers
        again.

        Raises:
            ReaderError: where the driver as a whole does not answer. The next reading tries again.
        """
        ...

    def close(self) -> None:
        """Let go of the driver."""
        ...


class NoGpus:
    """The reader of a node without GPUs."""

    def read(self) -> tuple[GpuReport, ...]:
        return ()

    def close(self) -> None: ...
