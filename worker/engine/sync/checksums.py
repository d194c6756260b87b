"""Checksums of weights, computed on the tensors' own device: gigabytes need not be copied off an accelerator.

A tensor's fingerprint is the sum of its bytes as 64-bit words, once plain and once weighted by index, modulo 2^64. It
detects a word that changed and words that were swapped; it is no defence against forgery.
"""

import hashlib
from collections.abc import Mapping

import torch

CHUNK_BYTES = 2**25
"""Bytes that are summed at once: weighting them takes several temporary tensors of this size."""
_WORD_BYTES = 8
"""Bytes of an int64, torch's widest integer."""
_MASK = 2**64 - 1


def checksum(tensors: Mapping[str, torch.Tensor]) -> str:
    """The sha256 over names, shapes, dtypes and fingerprints of `tensors`, in name order."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name].detach()
        digest.update(f"{name}|{tuple(tensor.shape)}|{tensor.dtype}|{fingerprint(tensor):032x}|".encode())
    return digest.hexdigest()


@torch.no_grad()
def fingerprint(tensor: torch.Tensor) -> int:
    """The 128-bit fingerprint of `tensor`: the weighted sum in the upper, the plain one in the lower 64 bits."""
    content = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
    plain = weighted = 0
    for start in range(0, content.numel(), CHUNK_BYTES):
        words = _words(content[start : start + CHUNK_BYTES])
        # Odd weights are invertible modulo 2^64, so that no bit of a word is lost.
        weights = torch.arange(1, 2 * len(words), 2, device=words.device)
        first = start // _WORD_BYTES
        chunk_sum = int(words.sum())
        plain += chunk_sum
        weighted += int((words * weights).sum()) + 2 * first * chunk_sum
    return (weighted & _MASK) << 64 | (plain & _MASK)


def _words(content: torch.Tensor) -> torch.Tensor:
    """Bytes (num_bytes,) as int64, the last word padded with zeros."""
    is_aligned = content.data_ptr() % _WORD_BYTES == 0 and content.storage_offset() % _WORD_BYTES == 0
    if is_aligned and content.numel() % _WORD_BYTES == 0:
        return content.view(torch.int64)
    padded = content.new_zeros(-(-content.numel() // _WORD_BYTES) * _WORD_BYTES)
    padded[: content.numel()] = content
    return padded.view(torch.int64)
