"""Cards without a hardware profile are measured once for each model, on an idle card, without holding up reports."""

import sys
import time
from collections.abc import Sequence
from typing import ClassVar

import pytest

from tests.node.traces import cards
from worker.contracts.node_reports import CardFigures, GpuLive, GpuReport
from worker.node.card_figures import CardMeasurements, Probe

GIB = 2**30
FIGURES = CardFigures(num_processors=84, bf16_flops=1e14, fp32_flops=3e13, memory_bandwidth=6e11)


class FakeProbe:
    """Ends at its second reading."""

    started: ClassVar[list[str]] = []
    printed = f"Loading torch\n{FIGURES.model_dump_json()}\n"

    def __init__(self, device: str) -> None:
        self.started.append(device)
        self._num_readings = 0

    def result(self) -> str | None:
        self._num_readings += 1
        return self.printed if self._num_readings > 1 else None


@pytest.fixture
def measurements(monkeypatch: pytest.MonkeyPatch) -> CardMeasurements:
    monkeypatch.setattr(FakeProbe, "started", [])
    return CardMeasurements(FakeProbe)  # type: ignore[arg-type]


def reports(*num_processes: int | None, model: str = "A100") -> list[GpuReport]:
    found = cards(model, len(num_processes))
    return [
        gpu.model_copy(update={"live": GpuLive(num_processes=number)})
        for gpu, number in zip(found, num_processes, strict=True)
    ]


def figures_of(gpus: Sequence[GpuReport]) -> list[CardFigures | None]:
    return [gpu.identity.figures for gpu in gpus]


def test_an_idle_card_is_measured_and_its_model_has_figures_from_then_on(measurements: CardMeasurements) -> None:
    gpus = reports(2, 0)
    assert figures_of(measurements.added_to(gpus)) == [None, None]
    assert figures_of(measurements.added_to(gpus)) == [None, None]
    assert figures_of(measurements.added_to(gpus)) == [FIGURES, FIGURES]
    measurements.added_to(reports(0, 0))
    assert FakeProbe.started == ["GPU-a100-1"]


@pytest.mark.parametrize(
    "gpus", [reports(1, None), reports(0, 0, model="H100")], ids=["in_use_or_not_known", "with_a_profile"]
)
def test_a_card_in_use_and_one_with_a_profile_are_left_alone(
    measurements: CardMeasurements, gpus: list[GpuReport]
) -> None:
    measurements.added_to(gpus)
    assert not FakeProbe.started


def unlisted(
    memory_used_bytes: int | None, utilisation: float | None, memory_bytes: int | None = 64 * GIB
) -> GpuReport:
    """A card whose processes its driver does not list."""
    (gpu,) = cards("A100", 1)
    live = GpuLive(memory_used_bytes=memory_used_bytes, utilisation=utilisation)
    identity = gpu.identity.model_copy(update={"memory_bytes": memory_bytes})
    return gpu.model_copy(update={"live": live, "identity": identity})


@pytest.mark.parametrize("utilisation", [0.0, None])
def test_a_card_whose_processes_cannot_be_listed_is_measured_where_it_holds_next_to_nothing(
    measurements: CardMeasurements, utilisation: float | None
) -> None:
    measurements.added_to([unlisted(3 * GIB, utilisation)])
    assert FakeProbe.started == ["GPU-a100-0"]


@pytest.mark.parametrize(
    "gpu",
    [unlisted(7 * GIB, 0.0), unlisted(3 * GIB, 0.4), unlisted(None, 0.0), unlisted(3 * GIB, 0.0, memory_bytes=None)],
    ids=["holds_memory", "computes", "memory_in_use_not_known", "memory_not_known"],
)
def test_a_card_whose_processes_cannot_be_listed_is_left_alone_where_it_may_be_in_use(
    measurements: CardMeasurements, gpu: GpuReport
) -> None:
    measurements.added_to([gpu])
    assert not FakeProbe.started


def test_a_probe_that_fails_is_not_repeated(
    measurements: CardMeasurements, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(FakeProbe, "printed", "CUDA error: out of memory\n")
    for _ in range(4):
        assert figures_of(measurements.added_to(reports(0))) == [None]
    assert len(FakeProbe.started) == 1
    assert "CUDA error: out of memory" in caplog.text


@pytest.mark.parametrize(("program", "expected"), [("print('{}')", "{}\n"), ("import time; time.sleep(60)", "")])
def test_a_process_ends_with_what_it_printed_or_is_ended(
    program: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.node.card_figures.MAX_READINGS", 200 if expected else 1)
    probe = Probe("GPU-0", (sys.executable, "-c", program))
    deadline = time.monotonic() + 15
    printed = probe.result()
    while printed is None and time.monotonic() < deadline:
        time.sleep(0.1)
        printed = probe.result()
    assert printed == expected
