"""A bundle: several small files that a driver uploads in one request, a tar of regular files by artifact path."""

import hashlib
import io
import tarfile

from gallery.storage import ArtifactRefused, ChecksumMismatch, Readable
from worker.contracts.ingest import MAX_BUNDLE_BYTES, MAX_BUNDLE_FILES

MAX_TAR_BYTES = 2 * MAX_BUNDLE_BYTES
"""Larger bodies are not read. A tar of many tiny files is larger than they are: each has a header of 512 bytes."""


def read_bundle(source: Readable, sha256: str) -> dict[str, bytes]:
    """The files of a bundle by path, which is not checked yet.

    Raises:
        ChecksumMismatch: the bytes have another sha256.
        ArtifactRefused: it is no tar, holds anything but regular files, one path twice, or too many or too large files.
    """
    body = source.read(MAX_TAR_BYTES + 1)
    if len(body) > MAX_TAR_BYTES:
        raise ArtifactRefused(
            f"a bundle must be at most {MAX_TAR_BYTES // 2**20} MiB: upload large files by themselves"
        )
    if hashlib.sha256(body).hexdigest() != sha256:
        raise ChecksumMismatch(f"the bytes received ({len(body)}) do not have the sha256 {sha256[:80]}")
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(body), mode="r:") as tar:
            for member in tar:
                # A sparse file of some bytes may claim any size, and reading it makes the zeros.
                file = tar.extractfile(member) if member.isreg() and not member.issparse() else None
                if file is None or member.name in files:
                    raise ArtifactRefused(
                        f"a bundle must hold regular files, each once, got {member.name[:80]!r} otherwise"
                    )
                if len(files) == MAX_BUNDLE_FILES:
                    raise ArtifactRefused(f"a bundle must hold at most {MAX_BUNDLE_FILES} files")
                files[member.name] = file.read()
    # Numbers of extended headers are taken as they come: texts, negative ones, and more digits than any file has bytes.
    except (tarfile.TarError, ValueError, OverflowError) as error:
        raise ArtifactRefused(f"a bundle must be a tar: {error}") from error
    return files
