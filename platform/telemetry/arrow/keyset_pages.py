"""A long table's rows in pages, each read by a statement that begins behind the last row: between two pages no
connection is held, however slowly the reader takes them."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connection
from psycopg import sql

Row = tuple[Any, ...]

_PAGE = """
SELECT {key}, {columns} FROM {table}
WHERE {rows} AND ({indexed}) >= ({last_indexed}) AND ({key}) > ({last})
ORDER BY {key} LIMIT {limit}
"""
_FIRST_PAGE = "SELECT {key}, {columns} FROM {table} WHERE {rows} ORDER BY {key} LIMIT {limit}"


def keyset_pages(
    table: str,
    columns: Sequence[str],
    *,
    key: Sequence[str],
    num_indexed: int,
    rows: sql.Composable,
    page_rows: int,
) -> Iterator[list[Row]]:
    """The `columns` of the table's `rows`, ordered by `key`.

    Args:
        key: columns that together no two rows share.
        num_indexed: how many of them, the first, an index is sorted by: a page begins there without a search.
        rows: the condition that they meet.
    """
    parts = {
        "key": _names(key),
        "columns": _names(columns),
        "table": sql.Identifier(table),
        "rows": rows,
        "indexed": _names(key[:num_indexed]),
        "limit": sql.Literal(page_rows),
    }
    statement = sql.SQL(_FIRST_PAGE).format(**parts)
    while True:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            found = cursor.fetchall()
        if found:
            yield [row[len(key) :] for row in found]
        if len(found) < page_rows:
            return
        last = [sql.Literal(value) for value in found[-1][: len(key)]]
        behind = {"last": sql.SQL(", ").join(last), "last_indexed": sql.SQL(", ").join(last[:num_indexed])}
        statement = sql.SQL(_PAGE).format(**parts, **behind)


def _names(columns: Sequence[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, columns))
