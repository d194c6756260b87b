"""A fingerprint detects what a wrong sync could do to a tensor."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from worker.engine.sync import checksums
from worker.engine.sync.checksums import checksum, fingerprint


def plain(content: bytes) -> int:
    """The fingerprint by its definition, one word at a time."""
    chunks = [content[start : start + 8].ljust(8, b"\0") for start in range(0, len(content), 8)]
    words = [int.from_bytes(chunk, "little", signed=True) for chunk in chunks]
    weighted = sum(word * (2 * index + 1) for index, word in enumerate(words))
    return (weighted % 2**64) << 64 | sum(words) % 2**64


@given(content=st.binary(min_size=1, max_size=200), chunk_words=st.integers(1, 9))
def test_it_is_the_sum_of_words_whatever_the_chunks(content: bytes, chunk_words: int) -> None:
    tensor = torch.frombuffer(bytearray(content), dtype=torch.uint8)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(checksums, "CHUNK_BYTES", 8 * chunk_words)
        assert fingerprint(tensor) == plain(content)
        # A view that is not aligned to words.
        assert fingerprint(torch.cat([tensor[:1], tensor])[1:]) == plain(content)


@given(
    numel=st.integers(2, 64),
    one=st.integers(0, 63),
    other=st.integers(0, 63),
    bit=st.integers(0, 15),
    seed=st.integers(0),
)
def test_a_flipped_bit_and_two_swapped_values_are_detected(
    numel: int, one: int, other: int, bit: int, seed: int
) -> None:
    values = torch.randn(numel, generator=torch.Generator().manual_seed(seed % 2**32)).bfloat16()
    flipped = values.clone()
    flipped.view(torch.int16)[one % numel] ^= torch.tensor(1 << bit, dtype=torch.int32).to(torch.int16)
    assert checksum({"a": flipped}) != checksum({"a": values})
    swapped = values.clone()
    swapped[[one % numel, other % numel]] = values[[other % numel, one % numel]]
    assert (checksum({"a": swapped}) == checksum({"a": values})) is torch.equal(swapped, values)
