"""`manage.py retention`: deletes what is past its days; with `--dry-run` it only tells what that is."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from retention.due import due
from retention.kinds import KINDS, Kind
from retention.services import delete_due

ACTOR = "manage.py retention"


class Command(BaseCommand):
    help = "Delete telemetry, samples, logs and scheduler events of runs that ended longer ago than they are kept."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="tell what would be deleted, and delete nothing")

    def handle(self, *args: Any, dry_run: bool, **options: Any) -> None:
        for kind, data in KINDS.items():
            if data.days:
                self._handle(kind, dry_run)
            else:
                self.stdout.write(f"{kind}: kept for good ({data.setting} is not set)")

    def _handle(self, kind: Kind, dry_run: bool) -> None:
        shares = list(due(kind)) if dry_run else delete_due([kind], actor=ACTOR)
        verb = "would be deleted" if dry_run else "deleted"
        self.stdout.write(
            f"{kind}, kept for {KINDS[kind].days} days: {sum(share.num_rows for share in shares):,} rows and "
            f"{sum(share.num_files for share in shares):,} files of {len(shares)} runs {verb}, "
            f"{_size(sum(share.num_bytes for share in shares))}"
        )
        for share in shares:
            self.stdout.write(
                f"  {share.run.pk}  {share.run.name} of {share.run.project.name}, ended {share.run.ended_at:%Y-%m-%d}: "
                f"{share.num_rows:,} rows, {share.num_files:,} files, {_size(share.num_bytes)}"
            )


def _size(num_bytes: int) -> str:
    return f"{num_bytes / 2**20:,.1f} MiB"
