"""Pictures that prompts name: files below `TANDEM_MODEL_ROOTS`, which the cluster's nodes see as the web does."""

from collections.abc import Iterable
from pathlib import Path

from catalog.base_models import model_roots
from worker.contracts.prompts import Prompt

PICTURE_ENDINGS = (".png", ".jpg", ".jpeg", ".webp")
MAX_PICTURE_BYTES = 16 * 2**20
"""A lossless picture of 2048² pixels has about 10 MiB; with eight a prompt, more would fill a scorer's request."""


class PictureNotUsable(ValueError):
    """A prompt names a picture that cannot be used. The message names it and what to do."""


def resolve_picture(path: str) -> str:
    """The absolute path of a picture below a model root. Raises `PictureNotUsable`."""
    if Path(path).suffix.lower() not in PICTURE_ENDINGS:
        raise PictureNotUsable(f"`pictures` must end in one of {', '.join(PICTURE_ENDINGS)}, got `{path[:200]}`")
    for root in model_roots():
        file = (root / path).resolve()
        if file.is_relative_to(root) and file.is_file():
            num_bytes = file.stat().st_size
            if num_bytes > MAX_PICTURE_BYTES:
                raise PictureNotUsable(
                    f"`pictures` must be ≤ {MAX_PICTURE_BYTES // 2**20} MiB each, got `{path[:200]}` with "
                    f"{num_bytes / 2**20:.1f} MiB: make it smaller"
                )
            return str(file)
    raise PictureNotUsable(
        f"`pictures` must be files below TANDEM_MODEL_ROOTS, got `{path[:200]}`: ask an admin to put it there"
    )


def picture_problem(prompts: Iterable[Prompt]) -> str | None:
    """What is wrong with the first picture that cannot be used, and whose it is."""
    for number, prompt in enumerate(prompts, start=1):
        for path in prompt.pictures:
            try:
                resolve_picture(path)
            except PictureNotUsable as error:
                return f"prompt {number}: {error}"
    return None


def with_resolved_pictures(prompts: Iterable[Prompt]) -> tuple[Prompt, ...]:
    """The prompts as the engine gets them: pictures by absolute path, ids as they were. Raises `PictureNotUsable`."""
    return tuple(_resolved(prompt) if prompt.pictures else prompt for prompt in prompts)


def _resolved(prompt: Prompt) -> Prompt:
    # The id is written down, for its default follows from the paths.
    return prompt.model_copy(update={"id": prompt.id, "pictures": tuple(map(resolve_picture, prompt.pictures))})
