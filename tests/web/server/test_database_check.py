"""A database of another version is refused with what to do, before anything is written to it."""

import re
from collections.abc import Callable

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from server.errors import CannotStartError
from server.stack.database_check import check_database

pytestmark = pytest.mark.django_db


def run_sql(statement: str) -> Callable[[], None]:
    def act() -> None:
        with connection.cursor() as cursor:
            cursor.execute(statement)

    return act


def test_a_database_of_this_version_passes_and_nothing_of_the_check_remains() -> None:
    check_database()
    check_database()
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('pg_temp.expected_columns')")
        assert cursor.fetchone() == (None,)


def test_migrations_that_the_tree_does_not_have_are_named() -> None:
    MigrationRecorder(connection).record_applied("runs", "0007_from_the_future")
    with pytest.raises(CannotStartError, match=r"runs\.0007_from_the_future\. Start the version that made them, or "):
        check_database()


@pytest.mark.parametrize(
    ("statement", "difference"),
    [
        ("ALTER TABLE runs_run DROP COLUMN priority", "runs_run lacks the column priority"),
        ("ALTER TABLE runs_run ADD COLUMN colour text", "runs_run has a column colour"),
        (
            "ALTER TABLE fleet_lane ALTER COLUMN label TYPE varchar(60)",
            "fleet_lane.label is character varying(60) instead of character varying(120)",
        ),
        ("ALTER TABLE audit_auditentry RENAME TO audit_old", "table audit_auditentry is missing"),
        ("ALTER TABLE fleet_lane DROP CONSTRAINT lane_once_per_node", "fleet_lane lacks lane_once_per_node"),
        ("DROP INDEX run_queue", "runs_run lacks run_queue"),
    ],
)
def test_tables_that_differ_are_named(statement: str, difference: str) -> None:
    run_sql(statement)()
    with pytest.raises(CannotStartError, match=re.escape(difference)):
        check_database()


def test_many_differences_are_counted_not_listed() -> None:
    for number in range(9):
        run_sql(f"ALTER TABLE runs_run ADD COLUMN extra_{number} text")()
    with pytest.raises(CannotStartError, match=r"extra_4 and 4 more\. "):
        check_database()


def test_tables_of_apps_that_are_still_to_be_migrated_are_not_compared() -> None:
    run_sql("ALTER TABLE gallery_adapter ADD COLUMN colour text")()
    MigrationRecorder(connection).record_unapplied("gallery", "0001_initial")
    check_database()


def test_prepare_stops_with_what_to_do() -> None:
    run_sql("ALTER TABLE runs_run DROP COLUMN priority")()
    with pytest.raises(
        CommandError, match=r"start over with another TANDEM_VAR|let DATABASE_URL name an empty database"
    ):
        call_command("prepare")
