"""Bytes of artifacts: written under a temporary name while their checksum is computed, then moved into place.

One fsspec filesystem (`TANDEM_ARTIFACTS`: a folder or a bucket) holds everything; keys are relative to it. Invariant:
the content under a final key is complete and matches the sha256 of its upload.
"""

import hashlib
import posixpath
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Any, Protocol

import fsspec
from django.conf import settings

from gallery.content_checks import check_content
from gallery.content_errors import ContentRefused
from worker.contracts.artifact_paths import MAX_PATH_CHARS, PATH_PATTERN

CHUNK_BYTES = 2**20
MAX_ARTIFACT_BYTES = 4 * 2**30
CONTENT_TYPES = {
    ".png": "image/png",
    ".webm": "video/webm",
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".txt": "text/plain; charset=utf-8",
    ".safetensors": "application/octet-stream",
    ".gz": "application/gzip",
}
"""Content types by suffix; nothing else is stored. Pickle-based formats (.pt, .bin, .ckpt) are refused, because opening
one runs code."""

_PATH = re.compile(PATH_PATTERN)
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class ArtifactRefused(Exception):
    """The upload is refused; the message names the rule that it breaks."""


class ChecksumMismatch(ArtifactRefused):
    """The bytes received do not match the checksum."""


@dataclass(frozen=True, slots=True)
class Stored:
    key: str
    sha256: str
    num_bytes: int


def checked_path(path: str) -> str:
    """`path`, checked: relative, plain segments, a known suffix. Raises `ArtifactRefused`."""
    if len(path) > MAX_PATH_CHARS or not _PATH.fullmatch(path):
        raise ArtifactRefused(
            f"`path` must be segments of letters, digits, `.`, `_` and `-`, none beginning with `.` or `-`, "
            f"at most 255 characters each, joined by `/`, at most {MAX_PATH_CHARS} characters, got {path[:80]!r}"
        )
    content_type(path)
    # Files have such an ending and folders none, so that no path leads through a file, or names a folder.
    if named := next((name for name in path.split("/")[:-1] if _ending(name) in CONTENT_TYPES), None):
        raise ArtifactRefused(f"a folder must not be called as a file is, got {named[:80]!r} in `path`")
    return path


def content_type(path: str) -> str:
    """Raises `ArtifactRefused` for an ending that is not stored."""
    ending = _ending(path)
    if ending not in CONTENT_TYPES:
        raise ArtifactRefused(f"`path` must end in one of {', '.join(CONTENT_TYPES)}, got {path[:80]!r}")
    return CONTENT_TYPES[ending]


def _ending(path: str) -> str:
    return posixpath.splitext(path)[1].lower()


def write(key: str, source: Readable, sha256: str) -> Stored:
    """Store `source` under `key`, replacing any earlier content.

    Raises:
        ChecksumMismatch: the bytes have another sha256; nothing is stored.
        ArtifactRefused: `sha256` is not one, the bytes are more than `MAX_ARTIFACT_BYTES`, or not what the key's ending
            says.
        OSError: the storage is full or unavailable.
    """
    if not _SHA256.fullmatch(sha256):
        raise ArtifactRefused(f"the sha256 must be 64 lower-case hex digits, got {sha256[:80]!r}")
    filesystem, root = _filesystem()
    final = f"{root}/{key}"
    filesystem.makedirs(posixpath.dirname(final), exist_ok=True)
    with _draft(filesystem, root) as draft:
        num_bytes, found = 0, hashlib.sha256()
        with filesystem.open(draft, "wb") as file:
            while chunk := source.read(CHUNK_BYTES):
                num_bytes += len(chunk)
                if num_bytes > MAX_ARTIFACT_BYTES:
                    raise ArtifactRefused(f"an artifact must be at most {MAX_ARTIFACT_BYTES // 2**30} GiB")
                found.update(chunk)
                file.write(chunk)
        if found.hexdigest() != sha256:
            raise ChecksumMismatch(f"the bytes received ({num_bytes}) have sha256 {found.hexdigest()}, not {sha256}")
        with filesystem.open(draft, "rb") as file:
            _check(key, file, num_bytes)
        filesystem.mv(draft, final)
    return Stored(key=key, sha256=sha256, num_bytes=num_bytes)


def write_all(contents: Mapping[str, bytes]) -> None:
    """Store small files by key, replacing any earlier content. All are looked into before one is stored.

    Raises:
        ArtifactRefused: one is not what its key's ending says; nothing is stored.
        OSError: the storage is full or unavailable; the files before the one that failed are stored.
    """
    for key, content in contents.items():
        _check(key, BytesIO(content), len(content))
    filesystem, root = _filesystem()
    finals = {f"{root}/{key}": content for key, content in contents.items()}
    for folder in {posixpath.dirname(final) for final in finals}:
        filesystem.makedirs(folder, exist_ok=True)
    with _draft(filesystem, root) as draft:
        for final, content in finals.items():
            with filesystem.open(draft, "wb") as file:
                file.write(content)
            filesystem.mv(draft, final)


@contextmanager
def _draft(filesystem: Any, root: str) -> Iterator[str]:
    """A path for bytes that are not complete yet, at which nothing is left when the block fails."""
    folder = f"{root}/.incoming"
    draft = f"{folder}/{uuid.uuid4().hex}"
    filesystem.makedirs(folder, exist_ok=True)
    try:
        yield draft
    except BaseException:
        if filesystem.exists(draft):
            filesystem.rm(draft)
        raise


def _check(key: str, file: IO[bytes], num_bytes: int) -> None:
    try:
        check_content(key, file, num_bytes)
    except ContentRefused as error:
        raise ArtifactRefused(f"`{posixpath.basename(key)}` is refused: {error}") from error


def open_to_read(key: str) -> IO[bytes]:
    """Raises `FileNotFoundError` when the bytes are gone."""
    filesystem, root = _filesystem()
    file: IO[bytes] = filesystem.open(f"{root}/{key}", "rb")
    return file


def missing(keys: Sequence[str]) -> list[str]:
    """The keys under which nothing is stored any more."""
    filesystem, root = _filesystem()
    return [key for key in keys if not filesystem.exists(f"{root}/{key}")]


def read_all(keys: Sequence[str]) -> dict[str, bytes]:
    """The content of small files by key, read together where the storage supports it; missing files are left out."""
    if not keys:
        return {}
    filesystem, root = _filesystem()
    found = filesystem.cat([f"{root}/{key}" for key in keys], on_error="omit")
    return {key: found[f"{root}/{key}"] for key in keys if f"{root}/{key}" in found}


def chunks(file: IO[bytes], part: range) -> Iterator[bytes]:
    """The bytes of `file` at the offsets of `part`."""
    with file:
        file.seek(part.start)
        num_left = len(part)
        while chunk := file.read(min(CHUNK_BYTES, num_left)):
            num_left -= len(chunk)
            yield chunk


def delete(keys: Sequence[str]) -> None:
    """Delete the files under these keys; one that is gone already is no error."""
    filesystem, root = _filesystem()
    for key in keys:
        try:
            filesystem.rm_file(f"{root}/{key}")
        except FileNotFoundError:
            continue


def delete_tree(prefix: str) -> None:
    """Delete everything below `prefix`, if anything is there."""
    filesystem, root = _filesystem()
    folder = f"{root}/{prefix}"
    if filesystem.exists(folder):
        filesystem.rm(folder, recursive=True)


def _filesystem() -> tuple[Any, str]:
    filesystem, root = fsspec.core.url_to_fs(settings.TANDEM_ARTIFACTS)
    return filesystem, str(root).rstrip("/")
