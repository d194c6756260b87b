"""Why an ingest is refused, beside `runs.attempts.tokens`: each maps to a status of `worker.contracts.ingest`."""


class SequenceGap(Exception):
    """409: events are missing before the first that was sent."""

    def __init__(self, expected: int, got: int) -> None:
        super().__init__(f"`seq` must go on with {expected}, got {got}: send the events from {expected} on")
        self.expected = expected


class StorageFull(Exception):
    """507: the disk of the database is full. Nothing of the batch was stored, and the driver keeps it."""


class InvalidEvent(Exception):
    """422: an event does not fit its contract; nothing of its batch is stored."""

    def __init__(self, seq: int | None, field: str, message: str) -> None:
        where = "the batch" if seq is None else f"event {seq}"
        super().__init__(f"{where}: `{field}`: {message}; nothing of this batch was stored")
        self.seq = seq
        self.field = field
