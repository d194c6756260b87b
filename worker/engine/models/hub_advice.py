"""What a user can do about a base model that cannot be read, from the errors of diffusers and of the hub's client."""

from collections.abc import Iterator
from pathlib import Path

from huggingface_hub.errors import (
    GatedRepoError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
)


def advice(error: BaseException, path: str) -> str:
    """How to make `path` loadable, in one sentence, as far as the error and its causes tell."""
    if Path(path).is_dir():
        return "compare the folder with what `save_pretrained` writes, or download it again"
    causes = list(_chain(error))
    if any(isinstance(each, GatedRepoError) for each in causes):
        return (
            f"the repository is gated: accept its terms at https://huggingface.co/{path}, and start the nodes of the "
            "cluster with a token of that account in HF_TOKEN"
        )
    if any(isinstance(each, LocalEntryNotFoundError | OfflineModeIsEnabled | ConnectionError) for each in causes):
        return (
            "the hub cannot be reached from this node, or HF_HUB_OFFLINE is set, and the model is not in the node's "
            f"cache: run `hf download {path}` there, or put the folder below TANDEM_MODEL_ROOTS"
        )
    if any(isinstance(each, RepositoryNotFoundError) for each in causes):
        return (
            "the hub knows no such repository, or hides it: check the name, and for a private one start the nodes of "
            "the cluster with a token in HF_TOKEN"
        )
    return f"compare https://huggingface.co/{path}/tree/main with a repository in diffusers layout"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error, and the errors that it was raised from or while handling."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
