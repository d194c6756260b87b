"""`performance.attention: auto` takes the kernel of the card."""

import pytest
import torch

from worker.contracts.performance import AttentionBackend
from worker.engine.devices.fastest_attention import fastest_attention

HOPPER, BLACKWELL, ADA = (9, 0), (10, 0), (8, 9)


@pytest.mark.parametrize(
    ("capability", "expected"),
    [(HOPPER, AttentionBackend.CUDNN), (ADA, AttentionBackend.DEFAULT), (BLACKWELL, AttentionBackend.DEFAULT)],
)
def test_on_nvidia_the_generation_decides(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], expected: AttentionBackend
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: capability)
    assert fastest_attention(torch.device("cuda")) is expected


def test_on_amd_and_on_a_cpu_pytorch_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: HOPPER)
    assert fastest_attention(torch.device("cpu")) is AttentionBackend.DEFAULT
    monkeypatch.setattr(torch.version, "hip", "6.4")
    assert fastest_attention(torch.device("cuda")) is AttentionBackend.DEFAULT
