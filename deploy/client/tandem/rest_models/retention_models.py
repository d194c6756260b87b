"""Answers of REST v1. Written by `generate.py` from `openapi.json`."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import AwareDatetime

from tandem.tolerant_model import Model


class SharePastDays(Model):
    """What one run has of one kind, past its days."""

    kind: Literal["telemetry", "samples", "logs", "scheduler events"] | str
    run_id: UUID
    run_name: str
    project_name: str
    ended_at: AwareDatetime
    num_rows: int
    num_files: int
    num_bytes: int


class KeptKind(Model):
    """A kind of data, and for how long it is kept."""

    kind: Literal["telemetry", "samples", "logs", "scheduler events"] | str
    days: int
    """After the end of its run; 0: for good."""
    setting: str
    """The environment variable that says so."""


class KindPastDays(Model):
    """What of a kind would be deleted."""

    kind: Literal["telemetry", "samples", "logs", "scheduler events"] | str
    days: int
    """0: kept for good."""
    num_runs: int
    num_rows: int
    num_files: int
    num_bytes: int
    """Of files, and about of rows: the mean of their table."""
    oldest_ended_at: AwareDatetime | None
    """End of the run that ended first; null for no run, as the next one."""
    newest_ended_at: AwareDatetime | None


class Retention(Model):
    """What is kept for how long."""

    kinds: list[KeptKind]
    is_automatic: bool
    """Whether the worker deletes every hour what is past its days."""


class DeletionPreview(Model):
    """What a deletion of it deletes, and no more than that."""

    id: UUID
    """What `POST /retention:delete` names, within a day."""
    made_at: AwareDatetime
    kinds: list[KindPastDays]
    shares: list[SharePastDays]
    """By run and kind, the run that ended first at the beginning."""
    num_more_shares: int
    """Past their days too, but too many for one preview; the next one has them."""
