"""Runs as the client gives them: what the server says of one, and what can be done with it."""

from asyncio import sleep
from collections.abc import AsyncIterator, Sequence
from contextlib import nullcontext
from mimetypes import guess_extension
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from pydantic import PrivateAttr

from tandem import rest_models
from tandem.asynchronous.run_actions import RunActions
from tandem.asynchronous.session import Session
from tandem.chosen_values import NOT_GIVEN, NotGiven, given
from tandem.comfyui import LORA_FILE, write_for_comfyui
from tandem.errors import NotFound, RunFailed, TandemError
from tandem.notebook import run_card
from tandem.polling import poll_waits
from tandem.protocol import API, Spec, spec_document
from tandem.text_files import file_name

ENDED = frozenset({"completed", "stopped", "cancelled", "failed"})
CLEARED: dict[str, Any] = {"notes": "", "tags": []}
"""What None asks for, by field. The server refuses to clear the others."""


class RunHandle(RunActions):
    """A run's id with the methods of every run, listed or read in full."""

    name: str
    state: str
    num_batches: int
    num_batches_done: int
    _tag: str = PrivateAttr(default="")
    """Its `ETag` when it was read in full."""

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED

    @property
    def _file_name(self) -> str:
        return file_name(self.name)

    async def reload(self) -> "Run":
        """The run as it is now, in full."""
        return await read_run(self._session, self.id)

    async def update(
        self,
        *,
        name: str | NotGiven = NOT_GIVEN,
        notes: str | NotGiven | None = NOT_GIVEN,
        tags: Sequence[str] | NotGiven | None = NOT_GIVEN,
        archived: bool | NotGiven = NOT_GIVEN,
        priority: str | NotGiven = NOT_GIVEN,
        if_match: bool = False,
    ) -> "Run":
        """Change what is given. Returns the run as it then is.

        Args:
            notes: None clears them.
            tags: all that it is to have; None clears them.
            priority: high, normal or low; only while the run waits.
            if_match: only if nobody has changed it since this object was read in full.

        Raises:
            PreconditionFailed: with `if_match`, somebody has: `reload()`, then decide anew.
        """
        if if_match and not self._tag:
            raise TandemError(f"run {self.name!r} was not read in full, so that it has no ETag: reload() it first")
        asked = {"name": name, "notes": notes, "tags": tags, "archived": archived, "priority": priority}
        body = {field: CLEARED.get(field) if value is None else value for field, value in given(asked).items()}
        match = self._tag if if_match else ""
        answer, tag = await self._session.tagged("PATCH", self._path, body=body, match=match)
        return attached(Run.model_validate(answer), self._session, tag)

    async def wait(self, *, timeout: float | None = None, check: bool = True) -> "Run":
        """The run once it has ended.

        Raises:
            RunFailed: it failed. Not with `check=False`.
            TimeoutError: it has not ended after `timeout` seconds.
        """
        waits = poll_waits(timeout=timeout)
        with self._session.patiently():
            while not (run := await self.reload()).has_ended:
                if (seconds := next(waits, None)) is None:
                    raise TimeoutError(f"run {self.name!r} is {run.state} after {timeout} s")
                await sleep(seconds)
        if check:
            run.raise_for_failure()
        return run

    async def size(self) -> rest_models.RunSize:
        """The lanes that the run holds, and those that it could."""
        return rest_models.RunSize.model_validate(await self._session.get(f"{self._path}/size"))

    async def samples(self, *, batch: int | None = None, purpose: str = "") -> rest_models.Samples:
        """The samples of a batch; without one, of the newest that has pictures."""
        answer = await self._session.get(f"{self._path}/samples", batch=batch, purpose=purpose)
        return rest_models.Samples.model_validate(answer)

    async def save_samples(self, folder: Path, *, batch: int | None = None, purpose: str = "") -> list[Path]:
        """Write pictures, and the clips of videos, into `folder`, named by batch, prompt and member."""
        saved = []
        for sample in (await self.samples(batch=batch, purpose=purpose)).results:
            address = sample.clip_url or sample.image_url
            name = f"{file_name(sample.purpose)}-{sample.batch:05d}-{sample.prompt_index:04d}-{sample.member:02d}"
            target = Path(folder) / f"{name}{guess_extension(sample.media_type) or ''}"
            saved.append(await self._session.download(address, target))
        return saved

    async def events(self, after_seq: int = 0, *, types: str = "all") -> AsyncIterator[dict[str, Any]]:
        """The items of the run's stream above `after_seq`, oldest first, as REST describes them (`StreamItem`)."""
        async for item in self._session.items(f"{self._path}/events", after_seq=after_seq, types=types):
            yield item

    async def logs(
        self, *, follow: bool = False, level: str = "", source: str = "", search: str = "", after_seq: int = 0
    ) -> AsyncIterator[rest_models.LogEntry]:
        """Log records and events, oldest first. `follow` waits for more until the run has ended."""
        wanted = {"level": level, "source": source, "search": search}
        waits = poll_waits()
        with self._session.patiently() if follow else nullcontext():
            while True:
                # Asked first: what is logged until the end is then read below.
                is_last = not follow or (await self.reload()).has_ended
                path = f"{self._path}/logs"
                async for item in self._session.items(path, after_seq=after_seq, limit=1000, **wanted):
                    entry = rest_models.LogEntry.model_validate(item)
                    after_seq = max(after_seq, entry.stream_seq)
                    yield entry
                if is_last:
                    return
                await sleep(next(waits))

    async def checkpoints(self) -> list[rest_models.SavedCheckpoint]:
        """The newest first."""
        items = self._session.items(f"{self._path}/checkpoints")
        found = [rest_models.SavedCheckpoint.model_validate(item) async for item in items]
        return sorted(found, key=lambda each: each.batch, reverse=True)

    async def fork(self, checkpoint: int | None = None, *, name: str = "", spec: Spec | None = None) -> "Run":
        """A new run from a checkpoint, given by its complete batches; without one, from the newest.

        Args:
            spec: what the new run does; without one, what this run does.

        Raises:
            NotFound: the run has no such checkpoint.
        """
        saved = await self.checkpoints()
        chosen = next((each for each in saved if checkpoint in (None, each.batch)), None)
        if chosen is None:
            have = ", ".join(str(each.batch) for each in saved) or "none"
            wanted = "a checkpoint" if checkpoint is None else f"the checkpoint of batch {checkpoint}"
            raise _absent(f"run {self.name!r} does not have {wanted}; it has: {have}")
        run = await self.reload()
        body = {
            "project": run.project.id,
            "name": name or f"{run.name} from {chosen.batch}",
            "spec": run.spec if spec is None else spec_document(spec),
            "parent": run.id,
            "checkpoint": chosen.id,
        }
        return attached(Run.model_validate(await self._session.post(f"{API}/runs", body)), self._session)

    async def adapters(self) -> list[rest_models.Adapter]:
        """The trained versions, newest first."""
        return [
            rest_models.Adapter.model_validate(item) async for item in self._session.items(f"{self._path}/adapters")
        ]

    async def download(self, version: int | None = None, path: Path | None = None) -> Path:
        """Write a trained version in diffusers format into the folder `path`; every file's SHA-256 is checked.

        Args:
            version: the policy version; without one, the newest.
            path: by default named for the run and the version, in the current folder.

        Raises:
            NotFound: the run has no such version.
        """
        adapter = await self._adapter(version)
        folder = Path(path) if path else Path(f"{self._file_name}-v{adapter.policy_version}")
        for file in adapter.files:
            target = folder / file.path
            if not target.resolve().is_relative_to(folder.resolve()):
                raise TandemError(f"the server named the file {file.path!r}, which is outside {folder}")
            await self._session.download(file.url, target, file.sha256)
        return folder

    async def download_for_comfyui(self, folder: Path, version: int | None = None) -> list[Path]:
        """Write a trained LoRA into `folder` as ComfyUI's loader reads it, named for the run and the version.

        Two files for a model of two experts.

        Raises:
            NotFound: the run has no such version.
            TandemError: all weights were trained, or ComfyUI has no names for the model's layers.
        """
        adapter = await self._adapter(version)
        if [file.path for file in adapter.files] != [LORA_FILE]:
            raise TandemError(f"run {self.name!r} trained all weights: ComfyUI loads LoRAs")
        family = (await self.reload()).spec["base_model"]["family"]
        with TemporaryDirectory() as kept:
            lora = await self.download(adapter.policy_version, Path(kept)) / LORA_FILE
            name = f"{self._file_name}-v{adapter.policy_version}.safetensors"
            return write_for_comfyui(lora, Path(folder) / name, family)

    async def load_lora(self, pipeline: Any, version: int | None = None) -> None:
        """Load a trained LoRA into a pipeline of diffusers."""
        with TemporaryDirectory() as folder:
            pipeline.load_lora_weights(str(await self.download(version, Path(folder))))

    async def report(self, path: Path) -> Path:
        """Write the run's report, one HTML file, to `path`."""
        return await self._session.download(f"{self._path}/report", Path(path))

    async def _adapter(self, version: int | None) -> rest_models.Adapter:
        adapters = await self.adapters()
        found = next((each for each in adapters if version in (None, each.policy_version)), None)
        if found is None:
            have = ", ".join(str(each.policy_version) for each in adapters) or "none"
            raise _absent(f"run {self.name!r} has no trained version {version or ''}; it has: {have}")
        return found

    async def mirrors(self) -> list[rest_models.MirroredRun]:
        """How far each mirror of the project has got with the run."""
        found = await self._session.get(f"{self._path}/mirrors")
        return [rest_models.MirroredRun.model_validate(each) for each in found]

    async def mirror(self, name: str, *, from_beginning: bool = False) -> rest_models.MirroredRun:
        """Have the run written at once to a mirror of its project, by the mirror's name: also one that has ended, or
        that was given up.

        Raises:
            NotFound: the project has no such mirror.
        """
        project = (await self.reload()).project
        mirrors = [each async for each in self._session.items(f"{API}/mirrors", project=project.id)]
        chosen = next((each for each in mirrors if each["name"] == name), None)
        if chosen is None:
            have = ", ".join(each["name"] for each in mirrors) or "none"
            raise _absent(f"project {project.name!r} has no mirror {name!r}; it has: {have}")
        body = {"mirror": chosen["id"], "from_beginning": from_beginning}
        return rest_models.MirroredRun.model_validate(await self._session.post(f"{self._path}/mirrors", body))

    def _repr_html_(self) -> str:
        return run_card(self.model_dump(mode="json"))


AnyRun = TypeVar("AnyRun", bound=RunHandle)


class ListedRun(RunHandle, rest_models.ListedRun):
    """A run with what a list shows."""


class Run(RunHandle, rest_models.Run):
    """A run in full."""

    def raise_for_failure(self) -> None:
        """Raises `RunFailed` with the reason where the run has failed."""
        if self.state == "failed":
            raise RunFailed(self.id, self.failure.reason if self.failure else "no reason was recorded")


async def read_run(session: Session, run_id: str) -> Run:
    answer, tag = await session.tagged("GET", f"{API}/runs/{run_id}")
    return attached(Run.model_validate(answer), session, tag)


def attached(run: AnyRun, session: Session, tag: str = "") -> AnyRun:
    """`run` with the session that its methods use, and its `ETag` if it is known."""
    run._session, run._tag = session, tag
    return run


def _absent(detail: str) -> NotFound:
    return NotFound(status=404, title="Not Found", detail=detail)
