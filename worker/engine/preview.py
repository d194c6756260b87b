"""A preview: a user's own prompts, drawn by the base model and by a trained version from the same seeds.

```text
bootstrap code ─► PreviewJob ─► fetch the version's files ─► draw: base, then trained ─► put each sample ─► done
```

`python -m worker.engine.preview` is a short Ray job of its own. It does what a user would do with the download: load
the LoRA or whole components with plain diffusers and call the pipeline. `worker.contracts.previews` is its protocol.

Invariant: the job sees the device of its lane and no other, so torch is imported after the device is known.
"""

import hashlib
import logging
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from worker.contracts.ingest import SHA256_HEADER, BootstrapRequest
from worker.contracts.previews import (
    PREVIEW_BOOTSTRAP_PATH,
    PREVIEW_DONE_PATH,
    PREVIEW_FILE_PATH,
    PREVIEW_IMAGE_PATH,
    PreviewDone,
    PreviewImageName,
    PreviewJob,
)
from worker.engine.devices.visibility import check_device, see_only
from worker.engine.telemetry.media import CLIP_ENDING, PICTURE_ENDING, encode_clip, encode_png, is_clip
from worker.engine.unwanted_imports import without_unwanted_imports
from worker.ingest.web_connection import (
    Answer,
    FencedError,
    WebConnection,
    WebRefusedError,
    WebUnreachableError,
    back_off_seconds,
    job_environment,
)

if TYPE_CHECKING:
    from worker.engine.models.base import ModelAdapter

logger = logging.getLogger("worker.engine.preview")

MAX_ATTEMPTS = 5
"""The most attempts of one request, with 7.5 s of waiting between them (`back_off_seconds`)."""
RANGE_BYTES = 64 * 2**20
"""Bytes of a file that are requested at once, so that no file has to fit into memory."""


class PreviewClient:
    """Requests of one preview to the web. Every call raises `FencedError`, `WebRefusedError` or
    `WebUnreachableError`."""

    def __init__(self, base_url: str, job: PreviewJob) -> None:
        self._job = job
        self._connection = WebConnection(base_url, job.token)

    def fetch(self, folder: Path) -> None:
        """Write the version's files below `folder`. Raises `WebRefusedError` when a file's checksum is not the one
        recorded."""
        for file in self._job.files:
            target, found = folder / file.path, hashlib.sha256()
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as written:
                for start in range(0, file.num_bytes, RANGE_BYTES):
                    headers = {"Range": f"bytes={start}-{start + RANGE_BYTES - 1}"}
                    path = PREVIEW_FILE_PATH.format(id=self._job.id, path=file.path)
                    content = _request(self._connection, "GET", path, headers=headers).body
                    found.update(content)
                    written.write(content)
            if found.hexdigest() != file.sha256:
                raise WebRefusedError(f"{file.path} has sha256 {found.hexdigest()}, recorded was {file.sha256}")

    def put(self, name: PreviewImageName, sample: np.ndarray) -> None:
        """Send a picture (H, W, 3) or a clip (F, H, W, 3)."""
        content = encode_clip(sample, self._job.sampling.fps) if is_clip(sample) else encode_png(sample)
        headers = {SHA256_HEADER: hashlib.sha256(content).hexdigest()}
        _request(self._connection, "PUT", PREVIEW_IMAGE_PATH.format(id=self._job.id, name=name), content, headers)

    def done(self, problem: str = "") -> None:
        """Report that the preview is drawn, or the `problem` that ended it."""
        body = PreviewDone(problem=problem).model_dump_json().encode()
        _request(self._connection, "POST", PREVIEW_DONE_PATH.format(id=self._job.id), body)


def main() -> int:
    """Draw one preview. Returns the exit status, 0 when it is drawn or the web no longer wants it."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    base_url, code = job_environment()
    try:
        body = BootstrapRequest(code=code).model_dump_json().encode()
        answer = _request(WebConnection(base_url), "POST", PREVIEW_BOOTSTRAP_PATH, body)
        job = PreviewJob.model_validate_json(answer.body)
        client = PreviewClient(base_url, job)
        try:
            with tempfile.TemporaryDirectory() as folder:
                client.fetch(Path(folder))
                for name, sample in draw(job, Path(folder)):
                    client.put(name, sample)
        except (FencedError, WebUnreachableError):
            raise
        except Exception as error:
            client.done(problem=f"{type(error).__name__}: {error}")
            raise
        client.done()
    except FencedError as error:
        logger.info("the web no longer wants this preview: %s", error)
    return 0


def draw(job: PreviewJob, folder: Path) -> Iterator[tuple[PreviewImageName, np.ndarray]]:
    """Draw every sample of the preview, those of the base model first: 2 × prompts × num_samples.

    Args:
        job: what to draw.
        folder: holds the version's files.

    Yields:
        The name of each sample, and a picture (H, W, 3) or a clip (F, H, W, 3), uint8.
    """
    see_only(job.device)

    with without_unwanted_imports():
        from worker.engine.devices.selection import resolve_device
        from worker.engine.models.pipeline_loading import load_pipeline
        from worker.engine.models.precision import DTYPES
        from worker.engine.models.registry import MODEL_ADAPTERS

    check_device("the preview", job.device)
    adapter, dtype = MODEL_ADAPTERS[job.family], DTYPES[job.dtype]
    device = resolve_device(None)
    pipeline = load_pipeline(
        adapter.pipeline_class, job.base_model_path, device=device, dtype=dtype, vae_dtype=adapter.vae_dtype
    )
    # The adapter configures the pipeline as on lanes: attention without padding, decoding in tiles.
    adapter(pipeline, job.base_model_path, device, dtype).use_sampling(job.sampling)
    pipeline.set_progress_bar_config(disable=True)
    yield from _draw_all(job, adapter, pipeline, with_adapter=False)
    if len(job.files) == 1:
        adapter.load_lora(pipeline, folder / job.files[0].path)
    else:
        _load_components(pipeline, folder, dtype, device)
    yield from _draw_all(job, adapter, pipeline, with_adapter=True)


def _load_components(pipeline: Any, folder: Path, dtype: Any, device: Any) -> None:
    """Replace the pipeline's components that have a subfolder of their name in `folder` by what it holds."""
    for path in sorted(entry for entry in folder.iterdir() if entry.is_dir()):
        component_class = type(getattr(pipeline, path.name))
        # Frees the base model's component first.
        pipeline.register_modules(**{path.name: None})
        component = component_class.from_pretrained(path, torch_dtype=dtype, use_safetensors=True)
        pipeline.register_modules(**{path.name: component.to(device)})


def _draw_all(
    job: PreviewJob, adapter: "type[ModelAdapter]", pipeline: Any, *, with_adapter: bool
) -> Iterator[tuple[PreviewImageName, np.ndarray]]:
    from torch import Generator

    sampling = job.sampling
    for prompt_index, prompt in enumerate(job.prompts):
        for index in range(job.num_samples):
            drawn = pipeline(
                prompt=prompt,
                height=sampling.height,
                width=sampling.width,
                num_inference_steps=sampling.num_eval_denoising_steps,
                generator=Generator("cpu").manual_seed(job.seed + index),
                output_type="np",
                **adapter.pipeline_arguments(pipeline, sampling),
            )[0][0]
            sample = (np.asarray(drawn) * 255).round().astype(np.uint8)
            if is_clip(sample) and len(sample) == 1:
                sample = sample[0]
            name = PreviewImageName(
                with_adapter=with_adapter,
                prompt_index=prompt_index,
                index=index,
                ending=CLIP_ENDING if is_clip(sample) else PICTURE_ENDING,
            )
            yield name, sample


def _request(
    connection: WebConnection, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
) -> Answer:
    """The successful answer to a request, repeated up to `MAX_ATTEMPTS` times while the web is away or fails.

    Raises:
        FencedError: when the web no longer wants the preview (410).
        WebRefusedError: for any other status below 500 that is no success.
        WebUnreachableError: when every attempt failed.
    """
    failure = WebUnreachableError(f"{method} {path} was never answered")
    for attempt in range(1, MAX_ATTEMPTS + 1):
        try:
            answer = connection.send(method, path, body, headers)
        except WebUnreachableError as error:
            failure = error
        else:
            if answer.is_success:
                return answer
            if answer.status == 410:
                raise FencedError(answer.text)
            if answer.status < 500:
                raise WebRefusedError(f"{method} {path} was refused ({answer.status}): {answer.text}")
            failure = WebUnreachableError(f"{method} {path}: status {answer.status}: {answer.text}")
        if attempt < MAX_ATTEMPTS:
            time.sleep(back_off_seconds(attempt))
    raise failure


if __name__ == "__main__":
    sys.exit(main())
