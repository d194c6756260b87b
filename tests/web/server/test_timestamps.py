"""Points in time that the web reads of the database."""

from collections.abc import Iterator
from datetime import UTC, datetime

import psycopg
import pytest
from django.db import DataError, connection

from server.web_database.base import DatabaseWrapper
from server.web_database.timestamps import UtcLoader

pytestmark = pytest.mark.django_db
READ = "SELECT %s::timestamptz"


@pytest.fixture
def of_the_web() -> Iterator[DatabaseWrapper]:
    """A connection as the web's, beside that of the test."""
    made = DatabaseWrapper({**connection.settings_dict}, alias="web")
    yield made
    made.close()


@pytest.mark.parametrize(
    "written", ["2026-11-23 23:31:02.12345+00", "2026-11-23 23:31:02+05:30", "0001-01-01 00:00:00+00"]
)
def test_they_are_those_that_django_reads(of_the_web: DatabaseWrapper, written: str) -> None:
    found = []
    for database in (connection, of_the_web):
        with database.cursor() as cursor:
            cursor.execute(READ, [written])
            found += cursor.fetchone()
    ours, theirs = found
    assert (ours, ours.tzinfo) == (theirs, UTC)
    assert ours == datetime.fromisoformat(written)


def test_the_web_reads_them_by_its_own_loader(of_the_web: DatabaseWrapper) -> None:
    with of_the_web.cursor() as cursor:
        oid = psycopg.adapters.types["timestamptz"].oid
        assert cursor.connection.adapters.get_loader(oid, psycopg.pq.Format.TEXT) is UtcLoader


def test_what_python_has_no_time_for_is_an_error_that_says_so(of_the_web: DatabaseWrapper) -> None:
    with of_the_web.cursor() as cursor:
        cursor.execute(READ, ["infinity"])
        with pytest.raises(DataError, match="infinity"):
            cursor.fetchone()
