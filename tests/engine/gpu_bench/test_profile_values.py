"""Profiles are set from a report's own figures, and never from tiny shapes."""

from pathlib import Path
from typing import Any

import pytest

from tests.bench.gpu.bench_report import BenchReport
from tests.bench.gpu.profile_values import NoMeasurementError, lines, profile_values

LAYERS, LAUNCHING, EFFICIENCY = 10, 1e-3, 0.4
FORWARD_AT_PEAK = 0.02
"""Seconds of one sample's forward at the full peak."""


def _pass(batch: int) -> dict[str, Any]:
    seconds = LAYERS * LAUNCHING + batch * FORWARD_AT_PEAK / EFFICIENCY
    mfu = batch * FORWARD_AT_PEAK / seconds
    facts = {"variant": "as shipped", "batch": batch, "tokens": 1024, "layers": LAYERS, "seconds_taken": 1.0}
    return {"case": f"512×512 × {batch}, as shipped", "seconds": seconds, "mfu": mfu, **facts}


def _report(path: Path, *, is_measurement: bool) -> BenchReport:
    copies = [
        {"case": f"host to device, {kind}", "bytes_per_second": rate, "seconds_taken": 1.0}
        for kind, rate in (("pinned", 52e9), ("pageable", 7e9))
    ]
    steps = [{"case": "512×512 × 4, as shipped", "efficiency": 0.3, "seconds_taken": 1.0}]
    rows = {"ceilings": copies, "forward": [_pass(1), _pass(4)], "training": steps}
    facts = {
        "is_measurement": is_measurement,
        "shapes": "full" if is_measurement else "tiny",
        "device": "NVIDIA H100 80GB HBM3",
        "began": "2026-11-24T01:00:00+00:00",
        "commit": "abc1234",
        "packages": {"torch": "2.13.0"},
    }
    report = BenchReport.new(path, facts)
    report.stages.update({name: {"status": "done", "rows": found} for name, found in rows.items()})
    return report


def test_two_batches_tell_launching_from_arithmetic(tmp_path: Path) -> None:
    found = profile_values(_report(tmp_path / "gpu.json", is_measurement=True))
    assert found["generation_efficiency"].value == pytest.approx(EFFICIENCY)
    assert found["layer_overhead_seconds"].value == pytest.approx(LAUNCHING)
    assert found["training_efficiency"].value == 0.3
    assert found["host_bandwidth"].value == 52e9, "pageable copies are none of the profile's"


def test_the_fields_name_the_run_that_they_come_from(tmp_path: Path) -> None:
    written = "\n".join(lines(_report(tmp_path / "gpu.json", is_measurement=True)))
    assert "host_bandwidth=52.0 * GB," in written
    assert "NVIDIA H100 80GB HBM3, 2026-11-24, commit abc1234, torch 2.13.0" in written


def test_tiny_shapes_set_no_profile(tmp_path: Path) -> None:
    with pytest.raises(NoMeasurementError, match="got tiny shapes"):
        profile_values(_report(tmp_path / "gpu.json", is_measurement=False))
