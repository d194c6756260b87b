"""`manage.py restore FOLDER`: an installation as `manage.py backup` found it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from server import environment
from server.backup.backup_folder import BackupError
from server.backup.restoring_backups import restore_backup
from server.embedded.local_servers import database_and_broker
from server.errors import CannotStartError
from server.stack.lock import folder_lock


class Command(BaseCommand):
    help = "Restore a backup, with the web and its workers stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--replace", action="store_true", help="replace a database that is not empty")
        parser.add_argument("--without-secrets", action="store_true", help="go on though SECRET_KEY is another one")

    def handle(self, *args: Any, folder: Path, replace: bool, without_secrets: bool, **options: Any) -> None:
        try:
            with _database():
                restored = restore_backup(
                    folder.absolute(), replace=replace, without_secrets=without_secrets, say=self.stdout.write
                )
        except (BackupError, CannotStartError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Restored what there was at {restored.taken_at:%Y-%m-%d %H:%M:%S} UTC. Everybody logs in again; runs that "
            "were at work then go on from their last checkpoint, if it is still stored."
        )


@contextmanager
def _database() -> Iterator[None]:
    """The embedded servers, where no others are given. Raises `CannotStartError` while `up` runs on the folder."""
    if environment.HAS_OWN_DATABASE:
        yield
        return
    environment.VAR.mkdir(parents=True, exist_ok=True)
    with folder_lock(environment.VAR), database_and_broker(environment.VAR, durable=True):
        yield
