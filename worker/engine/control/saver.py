"""A checkpoint and the LoRA of the same version, made by the reserved trainer gang one after the other."""

import logging
from collections.abc import Callable
from dataclasses import asdict
from functools import partial

from ray import ObjectRef

from worker.contracts.events import AdapterEvent, CheckpointEvent
from worker.contracts.spans import SpanKind
from worker.engine.control.calls import Reports
from worker.engine.control.checkpoints import CheckpointKeeper, RunPosition
from worker.engine.control.gang import TrainerGang
from worker.engine.control.samples import artifact_folder
from worker.engine.control.timeline import Timeline
from worker.engine.telemetry.artifacts import ArtifactFile, ArtifactUploader, Receipt
from worker.engine.telemetry.client import TelemetryClient

logger = logging.getLogger(__name__)


class Saver:
    """Saves at batch boundaries only, where no gradients are open."""

    def __init__(
        self,
        *,
        gang: TrainerGang,
        keeper: CheckpointKeeper,
        timeline: Timeline,
        client: TelemetryClient,
        uploader: ArtifactUploader,
    ) -> None:
        self._gang = gang
        self._keeper = keeper
        self._timeline = timeline
        self._client = client
        self._uploader = uploader
        self.life = 0
        """As in `SampleReporter`."""

    def save(
        self, position: RunPosition, behaviour: ObjectRef | None, *, final: bool, then: Callable[[str], None]
    ) -> None:
        """Write the checkpoint, then the LoRA; `then` gets the checkpoint's URI when both are made.

        `behaviour` is the adapter of the position's `next_batch_version`, where that is given.
        """
        uri = self._keeper.uri(position.batch)
        saved = partial(self._saved, position, uri, final, then)
        self._gang.save_checkpoint(uri, asdict(position), behaviour, saved)

    def _saved(
        self, position: RunPosition, uri: str, final: bool, then: Callable[[str], None], reports: Reports
    ) -> None:
        self._record(reports)
        self._keeper.written(uri)
        self._client.emit(
            CheckpointEvent,
            batch=position.batch,
            policy_version=position.policy_version,
            optimizer_step=position.optimizer_step,
            uri=uri,
            num_bytes=sum(report.value for report in reports.values()),
        )
        self._gang.export_lora(partial(self._exported, position, uri, final, then))

    def _exported(
        self,
        position: RunPosition,
        uri: str,
        final: bool,
        then: Callable[[str], None],
        reports: Reports,
        content: bytes,
    ) -> None:
        self._record(reports)
        folder = artifact_folder("adapters", self.life)
        path = f"{folder}/v{position.policy_version}/pytorch_lora_weights.safetensors"
        file = ArtifactFile(path, lambda: content)
        self._uploader.submit([file], partial(self._tell_adapter, position, final), may_drop=False)
        then(uri)

    def _tell_adapter(self, position: RunPosition, final: bool, receipts: list[Receipt]) -> None:
        if not receipts:
            logger.error("the LoRA of policy version %d could not be uploaded", position.policy_version)
        for receipt in receipts:
            self._client.emit(
                AdapterEvent,
                batch=position.batch,
                policy_version=position.policy_version,
                artifact=receipt.path,
                sha256=receipt.sha256,
                num_bytes=receipt.num_bytes,
                final=final,
            )

    def _record(self, reports: Reports) -> None:
        for lane, report in reports.items():
            self._timeline.record(lane, SpanKind.CHECKPOINT, report)
