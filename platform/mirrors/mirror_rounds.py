"""Writes to mirrors what they have not had: every few seconds a round takes the runs that are due, one after another.

    due ─► claimed (due again later, should this process die) ─► portion ─► session ─► cursor moved ─► due in a minute
                ▲                                                              │                      or done
                └──────────────── due again after a while ◄────────────────────┴─► given up

Invariant: the cursor moves after the mirror has accepted a portion, and only if nobody else moved it. So a process that
is killed at any instant loses nothing; what it wrote without moving the cursor is written again.
"""

import logging
import threading
import time
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from mirrors.backends.session_words import Answer
from mirrors.following import follow_runs
from mirrors.mirror_retries import FOLLOW_SECONDS, seconds_until_retry
from mirrors.models import MAX_ERROR_CHARS, MirroredRun, MirroringState
from mirrors.portions import Portion, next_portion
from mirrors.session_folders import delete_left_folders, session_folder
from mirrors.sessions import MAX_SECONDS, SessionFailed, hold_session

logger = logging.getLogger(__name__)

CLAIM_SECONDS = MAX_SECONDS + 60
"""After which a claimed run is due again: longer than a session may take."""
ROUND_SECONDS = 30.0
"""After which a round claims nothing more, so that other tasks get their turn."""

_round = threading.Lock()


def mirror_due() -> int:
    """Write all that is due; returns the number of sessions. Does nothing while another round of this process works:
    one session at a time bounds the memory that mirrors take."""
    if not _round.acquire(blocking=False):
        return 0
    try:
        delete_left_folders()
        follow_runs()
        num_sessions, end = 0, time.monotonic() + ROUND_SECONDS
        while time.monotonic() < end and (row := _claim()) is not None:
            num_sessions += _advance(row)
        return num_sessions
    finally:
        _round.release()


@transaction.atomic
def _claim() -> MirroredRun | None:
    """The run that has been due for longest, due again only after `CLAIM_SECONDS`. Those that failed last come after
    all others: a server that is away must not hold up the rest."""
    now = timezone.now()
    due = MirroredRun.objects.filter(next_at__lte=now, mirror__is_active=True, state=MirroringState.FOLLOWING)
    with_parts = due.select_related("run", "mirror__project").defer("run__prompts")
    row = with_parts.select_for_update(of=("self",), skip_locked=True).order_by("num_failures", "next_at").first()
    if row is not None:
        row.begun_at, row.next_at = now, now + timedelta(seconds=CLAIM_SECONDS)
        row.save(update_fields=["begun_at", "next_at"])
    return row


def _advance(row: MirroredRun) -> bool:
    """Write the next portion; whether there was anything to write."""
    with session_folder() as work:
        try:
            portion = next_portion(row, work)
            is_session = bool(portion.records or (portion.ending and row.accepted_at))
            if is_session:
                _note_accepted(row, portion, hold_session(row, portion, work))
            else:
                _note_accepted(row, portion, None)
            return is_session
        except SessionFailed as error:
            _note_failed(row, str(error))
        except Exception as error:
            # One run that cannot be written must not keep its whole round from the others.
            logger.exception("run %s could not be mirrored to %s", row.run_id, row.mirror_id)
            _note_failed(row, f"{type(error).__name__}: {error}")
    return True


def _note_accepted(row: MirroredRun, portion: Portion, answer: Answer | None) -> None:
    """Move the cursor, unless the row was changed meanwhile: begun anew by a user, or claimed by another process."""
    now = timezone.now()
    changes: dict[str, Any] = {
        "begun_at": None,
        "after_seq": portion.up_to_seq,
        "state": MirroringState.DONE if portion.ending else MirroringState.FOLLOWING,
        "next_at": None if portion.ending else now + timedelta(seconds=0 if portion.is_cut else FOLLOW_SECONDS),
    }
    if answer is not None:
        changes |= {
            "kept": answer["kept"],
            "url": answer["url"],
            "batch": max(portion.batch, row.batch),
            "num_pictures_left_out": (
                row.num_pictures_left_out + portion.num_pictures_missing + answer["num_pictures_left_out"]
            ),
            "num_failures": 0,
            "error": "",
            "accepted_at": now,
        }
    _still_claimed(row).update(**changes)


def _note_failed(row: MirroredRun, error: str) -> None:
    num_failures = row.num_failures + 1
    seconds = seconds_until_retry(num_failures)
    _still_claimed(row).update(
        begun_at=None,
        num_failures=num_failures,
        error=error[:MAX_ERROR_CHARS],
        state=MirroringState.GIVEN_UP if seconds is None else MirroringState.FOLLOWING,
        next_at=None if seconds is None else timezone.now() + timedelta(seconds=seconds),
    )


def _still_claimed(row: MirroredRun) -> QuerySet[MirroredRun]:
    return MirroredRun.objects.filter(pk=row.pk, next_at=row.next_at)
