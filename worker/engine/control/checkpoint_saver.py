"""Writes a checkpoint, then the download of the same version, with the reserved trainer gang.

```text
save ─► gang writes the checkpoint ─► `checkpoint` event ─► gang exports ─► upload ─► `adapter` event
```

A LoRA is exported with every checkpoint but those that only replace the trainer gang. All weights of a transformer are
gigabytes: they are exported at the end of a run and where a user requested the checkpoint, from the version that was
published.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from worker.contracts.adapter_files import AdapterFile, listing_sha256
from worker.contracts.events import AdapterEvent, CheckpointEvent
from worker.contracts.names import Tuning
from worker.contracts.spans import SpanKind
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.control.checkpoint_directory import CheckpointDirectory, RunPosition
from worker.engine.control.pending_calls import Reports
from worker.engine.control.span_reporter import SpanReporter
from worker.engine.control.trainer_gang import TrainerGang
from worker.engine.control.version_registry import VersionRegistry
from worker.engine.control.weight_files import transformer_files
from worker.engine.telemetry.artifact_uploader import ArtifactFile, ArtifactUploader, Receipt
from worker.engine.telemetry.telemetry_client import TelemetryClient

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveRequest:
    """One checkpoint to write."""

    position: RunPosition
    behaviour: RemoteVersion | None
    """The weights of the position's `next_batch_version`, where that is given."""
    final: bool
    """Whether it is the run's last checkpoint."""
    exports: bool
    """Whether the download is written too."""
    then: Callable[[str, float], None]
    """Called when checkpoint and export are written, so that the gang is free again: with the checkpoint's URI, and the
    seconds that the checkpoint alone took."""
    otherwise: Callable[[str], None]
    """Called in its place, with the reason, where the storage does not take the checkpoint. Nothing is exported."""


class CheckpointSaver:
    """Saves at batch boundaries only, where no gradients are open."""

    def __init__(
        self,
        *,
        tuning: Tuning,
        gang: TrainerGang,
        checkpoints: CheckpointDirectory,
        versions: VersionRegistry,
        spans: SpanReporter,
        client: TelemetryClient,
        uploader: ArtifactUploader,
    ) -> None:
        self._tuning = tuning
        self._gang = gang
        self._checkpoints = checkpoints
        self._versions = versions
        self._spans = spans
        self._client = client
        self._uploader = uploader

    def save(self, save: SaveRequest) -> None:
        """Write the checkpoint, then export and upload the download."""
        uri = self._checkpoints.uri(save.position.batch)
        self._gang.save_checkpoint(
            uri, asdict(save.position), save.behaviour, partial(self._saved, save, uri), save.otherwise
        )

    def _saved(self, save: SaveRequest, uri: str, reports: Reports) -> None:
        self._record(reports)
        seconds = max(report.end - report.start for report in reports.values())
        seq = self._client.emit(
            CheckpointEvent,
            batch=save.position.batch,
            policy_version=save.position.policy_version,
            optimizer_step=save.position.optimizer_step,
            uri=uri,
            num_bytes=sum(report.value for report in reports.values()),
        )
        self._checkpoints.written(uri, seq)
        self._checkpoints.tidy(self._client.acknowledged_seq)
        then = partial(save.then, uri, seconds)
        if save.exports:
            self.export(save, then)
        else:
            then()

    def export(self, save: SaveRequest, then: Callable[[], None]) -> None:
        """Export and upload the download alone; `then` is called when the gang is free again."""
        self._gang.export(partial(self._exported, save, then))

    def _exported(
        self, save: SaveRequest, then: Callable[[], None], reports: Reports, exported: dict[str, bytes]
    ) -> None:
        self._record(reports)
        folder = f"{self._uploader.folder('adapters')}/v{save.position.policy_version}"
        if self._tuning is Tuning.LORA:
            files = [ArtifactFile(f"{folder}/{path}", partial(bytes, content)) for path, content in exported.items()]
            self._upload(save, folder, files)
        else:
            # The version may still be publishing; the gang need not wait for that.
            self._versions.when_available(
                save.position.policy_version,
                lambda version: self._upload(save, folder, transformer_files(folder, version, exported)),
            )
        then()

    def _upload(self, save: SaveRequest, folder: str, files: Sequence[ArtifactFile]) -> None:
        self._uploader.submit(files, partial(self._report, save, folder, len(files)), may_drop=False)

    def _report(self, save: SaveRequest, folder: str, num_files: int, receipts: list[Receipt]) -> None:
        """Emit the `adapter` event, unless a file is missing: an incomplete download is of no use."""
        if len(receipts) < num_files:
            logger.error(
                "policy version %d cannot be downloaded: %d of its %d files could not be uploaded",
                save.position.policy_version,
                num_files - len(receipts),
                num_files,
            )
            return
        files = tuple(
            AdapterFile(
                path=receipt.path.removeprefix(f"{folder}/"), sha256=receipt.sha256, num_bytes=receipt.num_bytes
            )
            for receipt in receipts
        )
        is_single = len(files) == 1
        self._client.emit(
            AdapterEvent,
            batch=save.position.batch,
            policy_version=save.position.policy_version,
            artifact=receipts[0].path if is_single else folder,
            sha256=files[0].sha256 if is_single else listing_sha256(files),
            num_bytes=sum(file.num_bytes for file in files),
            final=save.final,
            files=files,
        )

    def _record(self, reports: Reports) -> None:
        """Record a `checkpoint` span on every trainer lane."""
        for lane, report in reports.items():
            self._spans.record(lane, SpanKind.CHECKPOINT, report)
