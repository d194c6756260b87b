"""`manage.py backup FOLDER`: the database and the artifacts, while everything serves."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from server.backup.backup_folder import BackupError
from server.backup.taking_backups import take_backup


class Command(BaseCommand):
    help = "Write a backup of the database and the artifacts, of one moment, to a new folder. Runs go on meanwhile."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument(
            "--with-secret-key", action="store_true", help="keep SECRET_KEY in it: whoever has it reads all secrets"
        )
        parser.add_argument("--allow-missing", action="store_true", help="go on without artifacts that are lost")

    def handle(self, *args: Any, folder: Path, with_secret_key: bool, allow_missing: bool, **options: Any) -> None:
        target = folder.absolute()
        try:
            made = take_backup(target, with_key=with_secret_key, allow_missing=allow_missing, say=self.stdout.write)
        except BackupError as error:
            raise CommandError(str(error)) from error
        for key in made.left_out:
            self.stderr.write(f"Left out, since it is lost or damaged: {key}")
        self.stdout.write(
            f"{target} holds the database as it was at {made.taken_at:%Y-%m-%d %H:%M:%S} UTC "
            f"({made.database.num_bytes:,} bytes) and {made.num_files} artifacts ({made.file_bytes:,} bytes)."
        )
        if not made.has_key:
            self.stdout.write("It does not hold SECRET_KEY, by which stored secrets are read: keep that elsewhere.")
