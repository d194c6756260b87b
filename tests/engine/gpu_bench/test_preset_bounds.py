"""The bounds of the replay gate that presets keep come from a report's own figures, and are sections of their files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.bench.gpu.bench_report import BenchReport
from tests.bench.gpu.gate_bounds import MARGIN, PRESETS, SMALLEST_SHARE, measured_presets, section_lines
from worker.contracts.names import ModelFamily, SdeType
from worker.contracts.replay_bounds import BF16_BOUNDS, ReplayGateSpec
from worker.contracts.run_spec import RunSpec
from worker.scheduling.profiles.known_models import PROFILES

SOURCE = "make bench-gpu on a card"


def _row(family: ModelFamily, kernel: SdeType, rms: float, *, layers: int = 4) -> dict[str, Any]:
    statistics = {"rms": rms, "quantile": 4 * rms, "ratio_deviation": 0.0}
    facts = {"family": family.value, "model": f"some {family}", "layers": layers, "kernel": kernel.value}
    return {"case": f"{family}, {kernel}", **statistics, **facts, "seconds_taken": 1.0}


def _report(path: Path, **stages: Sequence[dict[str, Any]]) -> BenchReport:
    report = BenchReport.new(path / "gpu.json", {"is_measurement": True})
    report.stages.update({name: {"status": "done", "rows": rows} for name, rows in stages.items()})
    return report


def _sections(report: BenchReport) -> dict[str, ReplayGateSpec]:
    return {preset.file: preset.section for preset in measured_presets(report)}


def _all_families(path: Path) -> BenchReport:
    return _report(path, gate=[_row(family, kernel, 0.003) for family in ModelFamily for kernel in SdeType])


def test_bounds_are_the_largest_statistics_of_all_sdes_with_room(tmp_path: Path) -> None:
    flux, layers = ModelFamily.FLUX, PROFILES["flux.1-12b"].num_layers
    rows = [_row(flux, SdeType.FLOW, 0.001, layers=layers), _row(flux, SdeType.CPS, 0.002, layers=layers)]
    assert _sections(_report(tmp_path, gate=rows)) == {}, "the third SDE may be the worst"
    report = _report(tmp_path, gate=rows, compiled=[_row(flux, SdeType.DANCE, 0.003, layers=layers)])
    expected = ReplayGateSpec(
        max_rms_error=MARGIN * 0.003,
        max_quantile_error=MARGIN * 0.012,
        max_ratio_error=SMALLEST_SHARE * BF16_BOUNDS.ratio_error,
    )
    assert _sections(report) == {"flux.yaml": expected}, "fp32 and other families keep the usual bounds"
    assert list(section_lines(report, SOURCE)) == [
        "# deploy/presets/flux.yaml, below `spec:`",
        "  # 4 × the most that random weights gave, at least 0.1 × the usual bound:",
        "  # 57 blocks of some flux;",
        "  # make bench-gpu on a card",
        "  replay_gate: {max_rms_error: 0.012, max_quantile_error: 0.048, max_ratio_error: 0.001}",
    ]


@pytest.mark.parametrize(
    ("preset", "family", "profile"),
    [
        ("wan.yaml", ModelFamily.WAN, "wan2.1-1.3b"),
        ("wan_14b.yaml", ModelFamily.WAN, "wan2.1-14b"),
        ("wan22_5b.yaml", ModelFamily.WAN22, "wan2.2-5b"),
        ("sd3.yaml", ModelFamily.SD3, "sd3.5-medium-2.5b"),
    ],
)
def test_bounds_grow_with_the_root_of_the_blocks_of_the_presets_own_model(
    tmp_path: Path, preset: str, family: ModelFamily, profile: str
) -> None:
    report, growth = _all_families(tmp_path), (PROFILES[profile].num_layers / 4) ** 0.5
    found = _sections(report)[preset].max_rms_error
    assert found == pytest.approx(MARGIN * 0.003 * growth, rel=0.1) and found >= MARGIN * 0.003 * growth
    basis = f"  # 4 blocks of some {family} × √({PROFILES[profile].num_layers} ÷ 4);"
    assert basis in section_lines(report, SOURCE)


def test_every_preset_in_bf16_is_valid_with_the_section_that_is_printed_for_it(tmp_path: Path) -> None:
    report = _all_families(tmp_path)
    expected, lines = _sections(report), list(section_lines(report, SOURCE))
    assert expected.keys() == {path.name for path in PRESETS.glob("*.yaml") if not path.name.startswith("shapes")}
    for file, section in expected.items():
        start = lines.index(f"# deploy/presets/{file}, below `spec:`") + 1
        printed = "\n".join(lines[start : start + 4])
        document = yaml.safe_load((PRESETS / file).read_text().replace("\nspec:\n", f"\nspec:\n{printed}\n"))
        prompts = {"inline": [str(number) for number in range(64)]}
        assert RunSpec.model_validate(document["spec"] | {"prompts": prompts}).replay_gate == section
