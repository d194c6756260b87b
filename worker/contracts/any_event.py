"""What every event of a run carries, whatever it reports."""

from typing import Annotated

from pydantic import Field

from worker.contracts.base import Contract, Count, Duration, UnixTime

PositiveDuration = Annotated[Duration, Field(gt=0)]


class Event(Contract):
    """What every event carries. `seq` counts from 1 without gaps within an attempt; `at` is Unix time in seconds."""

    seq: Count
    at: UnixTime
