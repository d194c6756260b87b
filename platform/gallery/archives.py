"""All files of a policy version as one uncompressed tar, written while it is sent and never stored.

    header │ bytes of the file │ padding │ header │ … │ two empty blocks

Invariant: the archive of a version is the same bytes each time, so an interrupted download can be resumed.
"""

import tarfile

from django.utils.text import get_valid_filename

from gallery.models import Adapter, Artifact
from gallery.pieces import Literal, Piece, StoredBytes

ENDING = ".tar"
CONTENT_TYPE = "application/x-tar"


class ArchiveIncomplete(Exception):
    """A file of the version was never uploaded, or has another checksum; the message names it."""


def folder_of(adapter: Adapter) -> str:
    """Name of the folder that the archive unpacks to, valid on any file system."""
    return get_valid_filename(f"{adapter.run.name}-v{adapter.policy_version}").lstrip(".")


def archive(adapter: Adapter) -> list[Piece]:
    """The pieces of the tar, in order; every file lies below `folder_of` in it.

    Raises:
        ArchiveIncomplete: a file is missing, or has another checksum than the event reported.
    """
    paths = [adapter.artifact_of(file) for file in adapter.all_files]
    rows = Artifact.objects.filter(run=adapter.run_id, attempt=adapter.attempt, path__in=paths)
    stored = {artifact.path: artifact for artifact in rows}
    pieces: list[Piece] = []
    for file, path in zip(adapter.all_files, paths, strict=True):
        artifact = stored.get(path)
        if artifact is None or artifact.sha256 != file.sha256:
            problem = "was never uploaded" if artifact is None else "is not the file that the version names"
            raise ArchiveIncomplete(f"`{path}` {problem}: download the others one by one")
        header = tarfile.TarInfo(f"{folder_of(adapter)}/{file.path}")
        header.size, header.mtime, header.mode = artifact.num_bytes, int(adapter.at), 0o644
        pieces += [
            Literal(header.tobuf(tarfile.PAX_FORMAT)),
            StoredBytes(artifact.storage_key, artifact.num_bytes),
            Literal(bytes(-artifact.num_bytes % tarfile.BLOCKSIZE)),
        ]
    return [*pieces, Literal(bytes(2 * tarfile.BLOCKSIZE))]
