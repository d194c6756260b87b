"""Pages of rows as an Arrow IPC stream, which pandas, polars, DuckDB and R read without parsing text.

    pages of rows ─► one record batch each ─► its bytes, as soon as its page is read

Invariant: no more than one page is held in memory, and what is sent so far is a valid beginning of the stream. A batch
is written as a stream of its own, of which the schema before it and the end mark behind it are left away: the writer
pushes into a file, whereas an answer over HTTP is pulled. Names are dictionary-encoded; each batch brings its own
dictionary, which takes the place of the one before, as the format allows.

The writer is arro3, of a fifth of pyarrow's memory, and loaded by the first stream: an idle server is not larger.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from runs.models import CLOCK

if TYPE_CHECKING:
    from arro3.core import Array, DataType, RecordBatch, Schema, Table

MEDIA_TYPE = "application/vnd.apache.arrow.stream"
"""Registered with IANA for the IPC stream format."""
END_MARK = b"\xff\xff\xff\xff\x00\x00\x00\x00"
"""A message of no length ends a stream."""
PAGE_ROWS = 32_768
"""Rows of a record batch: 2 MB of Arrow, 30 MB while they are Python's, and a thirtieth of the longest runs'."""
_COMPRESSION: Final = "ZSTD"
"""By buffers, which every reader of Arrow's C++ and Rust libraries undoes."""
_NANOSECONDS = 1_000_000_000


class Kind(Enum):
    """What a column holds."""

    NAME = "name"
    """Text that repeats: a dictionary of strings."""
    COUNT = "count"
    """A whole number from 0: uint32."""
    VALUE = "value"
    """A measured number: float64."""
    TIME = "time"
    """A point in time, in nanoseconds of UTC: every Unix time in float64 is found again exactly."""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: Kind
    may_lack: bool = False
    """Whether it may hold None."""


def arrow_stream(
    columns: Sequence[Column], pages: Iterable[Sequence[Sequence[Any]]], about: Mapping[str, str]
) -> Iterator[bytes]:
    """The rows of all pages, a record batch for each page; without pages a table without rows.

    Args:
        about: the schema's metadata.
    """
    from arro3.core import RecordBatch, Table

    schema = _schema(columns, about)
    beginning = _written(Table.from_batches([], schema=schema)).removesuffix(END_MARK)
    yield beginning
    for rows in pages:
        arrays = [_array(column, values) for column, values in zip(columns, zip(*rows, strict=True), strict=True)]
        whole = _written(RecordBatch.from_arrays(arrays, schema=schema))
        yield whole.removeprefix(beginning).removesuffix(END_MARK)
    yield END_MARK


def _schema(columns: Sequence[Column], about: Mapping[str, str]) -> "Schema":
    from arro3.core import Field, Schema

    fields = [Field(column.name, _type(column.kind), nullable=column.may_lack) for column in columns]
    return Schema(fields, metadata=dict(about))


def _type(kind: Kind) -> "DataType":
    from arro3.core import DataType

    match kind:
        case Kind.NAME:
            return DataType.dictionary(DataType.int32(), DataType.utf8())
        case Kind.COUNT:
            return DataType.uint32()
        case Kind.VALUE:
            return DataType.float64()
        case Kind.TIME:
            return DataType.timestamp("ns", tz="UTC")


def _array(column: Column, values: Sequence[Any]) -> "Array":
    from arro3.core import Array, DataType

    match column.kind:
        case Kind.NAME:
            return Array(values, type=DataType.utf8()).cast(_type(Kind.NAME))
        case Kind.TIME if column.may_lack:
            known = iter(_nanoseconds([value for value in values if value is not None]).tolist())
            whole = [None if value is None else next(known) for value in values]
            return Array(whole, type=DataType.int64()).cast(_type(Kind.TIME))
        case Kind.TIME:
            return Array.from_numpy(_nanoseconds(values)).cast(_type(Kind.TIME))
        case kind:
            return Array(values, type=_type(kind))


def _nanoseconds(unix_seconds: Sequence[float]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Whole seconds apart from the rest: their product with a billion has more digits than float64. A time that cannot
    be one is 0, since a cast of it would be any number."""
    at = np.asarray(unix_seconds, dtype=np.float64)
    at = np.where((at >= CLOCK[0]) & (at <= CLOCK[1]), at, 0.0)
    whole = np.floor(at)
    return whole.astype(np.int64) * _NANOSECONDS + np.rint((at - whole) * _NANOSECONDS).astype(np.int64)


def _written(table: "Table | RecordBatch") -> bytes:
    from arro3.io import write_ipc_stream

    file = BytesIO()
    write_ipc_stream(table, file, compression=_COMPRESSION)
    return file.getvalue()
