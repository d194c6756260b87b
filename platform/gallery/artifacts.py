"""Uploads of a running attempt, and look-ups of their bytes.

A driver repeats an upload that got no answer: the same bytes under the same path are acknowledged and not stored again.
Invariant: other bytes under a path that the attempt has used are refused, so that a URL always gives the same bytes.
"""

from collections.abc import Mapping
from hashlib import sha256 as sha256_of
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone
from psycopg.errors import UniqueViolation

from gallery import storage
from gallery.models import Artifact
from telemetry.bulk_copy import copy_rows
from worker.contracts.ingest import SCHEDULE_LOG_FOLDER

_COLUMNS = ("run_id", "attempt", "path", "sha256", "num_bytes", "content_type", "storage_key", "created_at")


class ArtifactTaken(storage.ArtifactRefused):
    """The path holds other bytes."""


def store_artifact(*, run_id: UUID, attempt: int, path: str, source: storage.Readable, sha256: str) -> Artifact:
    """Store what a driver uploads. The caller has checked its token.

    Raises:
        ArtifactTaken: this attempt already stored other bytes under `path`.
        ChecksumMismatch, ArtifactRefused, OSError: see `storage.write`.
    """
    path = storage.checked_path(path)
    known = Artifact.objects.filter(run_id=run_id, attempt=attempt, path=path).first()
    if known is not None:
        return _same_or_refuse(known, sha256)
    stored = storage.write(f"{run_id}/{attempt}/{path}", source, sha256)
    try:
        with transaction.atomic():
            return Artifact.objects.create(
                run_id=run_id,
                attempt=attempt,
                path=path,
                sha256=sha256,
                num_bytes=stored.num_bytes,
                content_type=storage.content_type(path),
                storage_key=stored.key,
            )
    except IntegrityError:
        # Of two concurrent uploads of one path, the first row is kept.
        return _same_or_refuse(Artifact.objects.get(run_id=run_id, attempt=attempt, path=path), sha256)


def store_artifacts(*, run_id: UUID, attempt: int, files: Mapping[str, bytes]) -> None:
    """Store several small files, by path. The caller has checked the driver's token.

    Raises:
        ArtifactTaken, ArtifactRefused, OSError: as `store_artifact`, for any of the files; no row is stored then.
    """
    digests = {storage.checked_path(path): sha256_of(content).hexdigest() for path, content in files.items()}
    known = Artifact.objects.filter(run_id=run_id, attempt=attempt, path__in=digests)
    taken = {_same_or_refuse(artifact, digests[artifact.path]).path for artifact in known}
    fresh = [path for path in digests if path not in taken]
    keys = {path: f"{run_id}/{attempt}/{path}" for path in fresh}
    storage.write_all({keys[path]: files[path] for path in fresh})
    now, kind_of = timezone.now(), storage.content_type
    rows = ((run_id, attempt, path, digests[path], len(files[path]), kind_of(path), keys[path], now) for path in fresh)
    try:
        # A savepoint keeps the caller's transaction usable after a conflict.
        with transaction.atomic():
            copy_rows(Artifact, _COLUMNS, rows)
    except UniqueViolation:
        # Of two concurrent uploads of one path, the first row is kept. The other upload's are all there by now.
        store_artifacts(run_id=run_id, attempt=attempt, files=files)


def find_artifact(run_id: UUID, path: str, attempt: int | None = None) -> Artifact | None:
    """The artifact of that attempt, by default of the newest attempt that stored this path."""
    rows = Artifact.objects.filter(run_id=run_id, path=path)
    if attempt is not None:
        rows = rows.filter(attempt=attempt)
    return rows.order_by("-attempt").first()


def schedule_log(run_id: UUID, attempt: int | None = None) -> list[Artifact]:
    """The parts of an attempt's schedule log in order, by default of the newest attempt that has one; may be empty.

    Parts end at a batch's end; what the web could not take while it was away is missing.
    """
    rows = Artifact.objects.filter(run_id=run_id, path__startswith=SCHEDULE_LOG_FOLDER)
    if attempt is None:
        attempt = rows.aggregate(newest=Max("attempt"))["newest"]
    return list(rows.filter(attempt=attempt).order_by("path"))


def delete_run_artifacts(run_id: UUID | str) -> None:
    """Delete all artifacts of a run, previews included. Idempotent; the rows are deleted with the run."""
    storage.delete_tree(str(UUID(str(run_id))))


def _same_or_refuse(known: Artifact, sha256: str) -> Artifact:
    if known.sha256 != sha256:
        raise ArtifactTaken(
            f"`{known.path}` of attempt {known.attempt} already holds bytes with sha256 {known.sha256}: "
            "artifacts never change, use another path"
        )
    return known
