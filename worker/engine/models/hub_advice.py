"""What to do about a base model that cannot be read, from the errors of diffusers and of the hub's client."""

from collections.abc import Iterator
from pathlib import Path

from huggingface_hub.errors import (
    GatedRepoError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
)


def advice(error: BaseException, path: str) -> str:
    """One sentence: what makes `path` loadable, as far as the error and what lies behind it tell."""
    if Path(path).is_dir():
        return "compare the folder with what `save_pretrained` writes, or download it again"
    behind = list(_chain(error))
    if any(isinstance(each, GatedRepoError) for each in behind):
        return (
            f"the repository is gated: accept its terms at https://huggingface.co/{path}, and start the nodes of the "
            "cluster with a token of that account in HF_TOKEN"
        )
    if any(isinstance(each, LocalEntryNotFoundError | OfflineModeIsEnabled | ConnectionError) for each in behind):
        return (
            "the hub cannot be reached from this node, or HF_HUB_OFFLINE is set, and the model is not in the node's "
            f"cache: run `hf download {path}` there, or put the folder below TANDEM_MODEL_ROOTS"
        )
    if any(isinstance(each, RepositoryNotFoundError) for each in behind):
        return (
            "the hub knows no such repository, or hides it: check the name, and for a private one start the nodes of "
            "the cluster with a token in HF_TOKEN"
        )
    return f"look at https://huggingface.co/{path}/tree/main for what it lacks"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error, and those it was raised from or while handling."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
