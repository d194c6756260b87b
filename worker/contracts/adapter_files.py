"""The files of a downloadable policy version, and the one checksum that stands for them together."""

import hashlib
from collections.abc import Iterable
from operator import attrgetter
from typing import Annotated

from pydantic import StringConstraints

from worker.contracts.artifact_paths import PATH_PATTERN
from worker.contracts.base import BigCount, Contract, Sha256


class AdapterFile(Contract):
    """One file of a policy version that users can download."""

    path: Annotated[str, StringConstraints(pattern=PATH_PATTERN, max_length=200)]
    """Path relative to the version's folder, such as `pytorch_lora_weights.safetensors` or
    `transformer/config.json`."""
    sha256: Sha256
    num_bytes: BigCount


def listing_sha256(files: Iterable[AdapterFile]) -> str:
    """One checksum for several files: the sha256 of the lines that `sha256sum` prints for them, in order of their
    paths."""
    lines = (f"{file.sha256}  {file.path}\n" for file in sorted(files, key=attrgetter("path")))
    return hashlib.sha256("".join(lines).encode()).hexdigest()
