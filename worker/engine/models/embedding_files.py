"""One prompt's embeddings as a file: safetensors, written whole or not at all, read as a memory mapping.

Invariant: a file that is cut short or changed counts as missing. Its checksum tells, so that nothing has to be flushed
to the disk before the next file is written.
"""

import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

UNFINISHED_ENDING = ".unfinished"
ALIGNMENT = 64
"""Tensors begin at a multiple of so many bytes, as those that torch allocates do: kernels may add up in another order
where they do not."""
_LENGTH_BYTES = 8
"""The header's length comes first in a safetensors file."""


def packed(embeds: Mapping[str, torch.Tensor]) -> bytes:
    """The content of the file of these embeddings."""
    # Copied, since tensors that share memory are refused.
    kept = {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in embeds.items()}
    return _aligned(save(kept, metadata={"crc32": _checksum(kept)}))


def write(file: Path, content: bytes) -> None:
    """Write what `packed` made to `file`, whose folder exists; another process may write the same."""
    with tempfile.NamedTemporaryFile(dir=file.parent, suffix=UNFINISHED_ENDING, delete=False) as unfinished:
        try:
            unfinished.write(content)
            unfinished.close()
            Path(unfinished.name).replace(file)
        except BaseException:
            Path(unfinished.name).unlink(missing_ok=True)
            raise


def read(file: Path) -> dict[str, torch.Tensor] | None:
    """The embeddings in `file`, which its pages hold; `None` where it is missing or damaged."""
    try:
        with safe_open(file, framework="pt") as opened:
            names = opened.keys()
            embeds = {name: opened.get_tensor(name) for name in names}
            written = (opened.metadata() or {}).get("crc32")
    except (FileNotFoundError, SafetensorError):
        return None
    return embeds if written == _checksum(embeds) else None


def _aligned(content: bytes) -> bytes:
    """The same safetensors file with a header of such a length that the tensors' bytes begin aligned."""
    length = int.from_bytes(content[:_LENGTH_BYTES], "little")
    end = _LENGTH_BYTES + length
    padding = -end % ALIGNMENT
    header = content[_LENGTH_BYTES:end] + b" " * padding
    return (length + padding).to_bytes(_LENGTH_BYTES, "little") + header + content[end:]


def _checksum(embeds: Mapping[str, torch.Tensor]) -> str:
    value = 0
    for name in sorted(embeds):
        value = zlib.crc32(embeds[name].flatten().view(torch.uint8).numpy(), value)
    return f"{value:08x}"
