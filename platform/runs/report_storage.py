"""Whether the web can store what drivers report: noted in the cache, since it is the database that takes nothing."""

from collections.abc import Iterable
from contextlib import suppress
from uuid import UUID

from django.core.cache import cache
from psycopg.errors import DiskFull
from redis import RedisError

FULL = "the disk of the database is full: free space on it; runs go on meanwhile, and what they report is kept"
NOTED_SECONDS = 30
"""Some tries of a driver, each of which notes it again."""


def is_full(error: BaseException | None) -> bool:
    """Whether an error says that the disk of the database is full: Django's, or psycopg's own, as of COPY."""
    while error is not None and not isinstance(error, DiskFull):
        error = error.__cause__
    return error is not None


def note_full(run_id: UUID) -> None:
    """Note that there was no space for what this run reports."""
    with suppress(RedisError):
        cache.set(_key(run_id), True, NOTED_SECONDS)


def full_in(run_ids: Iterable[UUID]) -> dict[UUID, str]:
    """What to say of those runs that there was no space for a moment ago."""
    by_key = {_key(run_id): run_id for run_id in run_ids}
    try:
        return {by_key[key]: FULL[0].upper() + FULL[1:] for key in cache.get_many(by_key)} if by_key else {}
    except RedisError:
        # Who has no cache either learns of that elsewhere, and may still see the runs.
        return {}


def _key(run_id: UUID) -> str:
    return f"report-storage-full:{run_id}"
