"""Advisory locks of the database, for work that only one process at a time should do, outside any transaction."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def advisory_lock(key: int, *, wait: bool) -> Iterator[bool]:
    """Hold the lock of this key; without `wait` only where no other connection holds it. Yields whether it is held. It
    belongs to the connection, not to a transaction."""
    with connection.cursor() as cursor:
        if wait:
            cursor.execute("SELECT pg_advisory_lock(%s)", [key])
            is_held = True
        else:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
            is_held = cursor.fetchone() == (True,)
    try:
        yield is_held
    finally:
        if is_held:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [key])
