"""The pieces of a download, in memory or in the artifact storage, read one after the other in chunks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gallery import storage


@dataclass(frozen=True, slots=True)
class Literal:
    """Bytes in memory."""

    content: bytes

    @property
    def num_bytes(self) -> int:
        return len(self.content)

    def chunks(self, part: range) -> Iterator[bytes]:
        yield self.content[part.start : part.stop]


@dataclass(frozen=True, slots=True)
class StoredBytes:
    """Bytes that the artifact storage holds, opened only while they are read."""

    storage_key: str
    num_bytes: int

    def chunks(self, part: range) -> Iterator[bytes]:
        """Raises `FileNotFoundError` when the bytes are gone."""
        yield from storage.chunks(storage.open_to_read(self.storage_key), part)


Piece = Literal | StoredBytes


def chunks(pieces: Sequence[Piece], part: range) -> Iterator[bytes]:
    """The bytes at the offsets of `part`, counted over all pieces."""
    start = 0
    for piece in pieces:
        stop = start + piece.num_bytes
        wanted = range(max(part.start, start) - start, min(part.stop, stop) - start)
        if wanted:
            yield from piece.chunks(wanted)
        start = stop
