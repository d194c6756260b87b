"""Whether a file holds the weights that its name says (https://github.com/huggingface/safetensors#format).

Invariant: the header alone is read.
"""

from itertools import pairwise
from typing import IO, Any

from gallery.content_errors import ContentRefused, read_exactly
from gallery.text_checks import json_of

MAX_HEADER_BYTES = 16 * 2**20
"""Some 200 bytes a tensor, and the largest transformers have some thousands of them."""
MAX_TENSORS = 50_000
MAX_SIDE = 2**40
"""Of a tensor: far beyond what memory holds, so that products stay small numbers."""
_BITS = {"BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16} | {
    **{"I32": 32, "U32": 32, "F32": 32, "F64": 64, "I64": 64, "U64": 64}
}
"""Of an element, by type."""


def check_safetensors(file: IO[bytes], num_bytes: int) -> None:
    """Its header alone: tensors of known types that lie one behind the other and fill the file."""
    length = int.from_bytes(read_exactly(file, 8, "its safetensors header"), "little")
    if length > min(MAX_HEADER_BYTES, num_bytes - 8):
        most = min(MAX_HEADER_BYTES, max(0, num_bytes - 8))
        raise ContentRefused(f"its safetensors header must be ≤ {most} bytes, got {length}")
    header = json_of(read_exactly(file, length, "its safetensors header"))
    if not isinstance(header, dict) or len(header) > MAX_TENSORS:
        raise ContentRefused(f"its safetensors header must be an object of ≤ {MAX_TENSORS} tensors")
    places = sorted(_place(name, tensor) for name, tensor in header.items() if name != "__metadata__")
    bounds = [(0, 0), *places, (num_bytes - 8 - length, num_bytes - 8 - length)]
    if any(end != begin for (_, end), (begin, _) in pairwise(bounds)):
        raise ContentRefused("its safetensors have gaps or overlap, or do not end where the file does")


def _place(name: str, tensor: Any) -> tuple[int, int]:
    """Where a tensor begins and ends among the data."""
    match tensor:
        case {"dtype": str(dtype), "shape": [*shape], "data_offsets": [int(begin), int(end)]} if dtype in _BITS and all(
            type(side) is int and 0 <= side <= MAX_SIDE for side in shape
        ):
            num_bits = _BITS[dtype]
            for side in shape:
                num_bits *= side
            if 0 <= begin <= end and 8 * (end - begin) == num_bits:
                return begin, end
    raise ContentRefused(f"its safetensors header describes {name[:80]!r} in a way that cannot be read")
