"""Checks that a database belongs to this version of Tandem: its applied migrations and its tables.

Tables are compared too, because while 0.1.0 was unreleased, the single migration of each app was rewritten in place.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connection, models, transaction
from django.db.migrations.loader import MigrationLoader

from server import environment
from server.errors import CannotStartError

Cursor = Any
"""Of whichever driver Django uses."""
MAX_NAMED = 5
"""Most differences that the message lists: enough to show that the database is another version's."""
_COLUMNS = """
    SELECT attname, format_type(atttypid, atttypmod)
    FROM pg_attribute
    WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped
"""


def check_database() -> None:
    """Check the database before or after a migration.

    Raises:
        CannotStartError: it has migrations that this version does not have, or tables of migrated apps differ.
    """
    loader = MigrationLoader(connection)
    applied = set(loader.applied_migrations)
    unknown = sorted(f"{app}.{name}" for app, name in applied - set(loader.disk_migrations))
    if unknown:
        raise CannotStartError(
            f"the database has migrations that this version of Tandem does not have: {_some(unknown)}. "
            f"Start the version that made them, or {_how_to_start_over()}"
        )
    pending = {app for app, name in set(loader.disk_migrations) - applied}
    migrated = [app for app in settings.APPS_WITH_TABLES if app not in pending]
    differences = list(_differences(migrated))
    if differences:
        raise CannotStartError(
            f"the database's tables are not those of this version of Tandem: {_some(differences)}. They were made by "
            f"an unreleased version, from which no migration leads here: {_how_to_start_over()}"
        )


def _how_to_start_over() -> str:
    if environment.HAS_OWN_DATABASE:
        return "let DATABASE_URL name an empty database"
    return f"start over with another TANDEM_VAR (it is {environment.VAR} now; all runs are kept in it)"


def _some(found: list[str]) -> str:
    more = len(found) - MAX_NAMED
    return ", ".join(found[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _differences(app_labels: Iterable[str]) -> Iterator[str]:
    """Missing, unexpected and differing columns of the apps' tables, as clauses."""
    with transaction.atomic(), connection.cursor() as cursor:
        for label in app_labels:
            for model in apps.get_app_config(label).get_models(include_auto_created=True):
                yield from _table_differences(cursor, model)
        transaction.set_rollback(True)


def _table_differences(cursor: Cursor, model: type[models.Model]) -> Iterator[str]:
    table = model._meta.db_table
    found = _columns(cursor, table)
    if not found:
        yield f"table {table} is missing"
        return
    expected = _expected_columns(cursor, model)
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            yield f"{table} lacks the column {name}"
        elif name not in expected:
            yield f"{table} has a column {name}"
        elif found[name] != expected[name]:
            yield f"{table}.{name} is {found[name]} instead of {expected[name]}"
    constraints = connection.introspection.get_constraints(cursor, table)
    named = [*model._meta.constraints, *model._meta.indexes]
    yield from (f"{table} lacks {one.name}" for one in named if one.name not in constraints)


def _expected_columns(cursor: Cursor, model: type[models.Model]) -> dict[str, str]:
    """The columns' types as the database spells them, read from a temporary table that it creates."""
    fields = [(str(field.column), field.db_type(connection)) for field in model._meta.local_concrete_fields]
    listed = ", ".join(f"{connection.ops.quote_name(column)} {db_type}" for column, db_type in fields)
    cursor.execute(f"CREATE TEMPORARY TABLE expected_columns ({listed})")
    try:
        return _columns(cursor, "pg_temp.expected_columns")
    finally:
        cursor.execute("DROP TABLE pg_temp.expected_columns")


def _columns(cursor: Cursor, table: str) -> dict[str, str]:
    """Type by column name; empty where there is no such table."""
    cursor.execute(_COLUMNS, [table])
    return dict(cursor.fetchall())
