"""Every file of the artifact storage that the database refers to: uploads of runs, and pictures of previews."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from gallery.models import Artifact, PreviewImage

ROWS_AT_A_TIME = 5000


@dataclass(frozen=True, slots=True)
class StoredFile:
    key: str
    num_bytes: int
    sha256: str | None
    """None for pictures of previews, whose checksum is not kept."""


def stored_files() -> Iterator[StoredFile]:
    """In no order; read in pieces inside a transaction."""
    artifacts = Artifact.objects.values_list("storage_key", "num_bytes", "sha256")
    for key, num_bytes, sha256 in artifacts.iterator(chunk_size=ROWS_AT_A_TIME):
        yield StoredFile(key, num_bytes, sha256)
    pictures = PreviewImage.objects.values_list("storage_key", "num_bytes")
    for key, num_bytes in pictures.iterator(chunk_size=ROWS_AT_A_TIME):
        yield StoredFile(key, num_bytes, None)


def still_referred_to(keys: Collection[str]) -> set[str]:
    """Those of the keys that rows refer to now."""
    found = set(Artifact.objects.filter(storage_key__in=keys).values_list("storage_key", flat=True))
    return found | set(PreviewImage.objects.filter(storage_key__in=keys).values_list("storage_key", flat=True))
