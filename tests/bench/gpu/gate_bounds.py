"""From the gate statistics of a report to the `replay_gate` section of each shipped preset that computes in bf16.

    bound = MARGIN × the largest statistic over SDEs and kernels × √(blocks of the preset's model ÷ blocks measured)

Rounding errors of blocks are taken for independent, so that their sum grows as the root of the number of blocks; what
was extrapolated so is said beside the section, and is measured again with the preset's published checkpoint. A preset
has a section only where its family was measured with all SDEs: the largest errors of one are several times those of
another.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.bench.gpu.bench_report import BenchReport, Row
from worker.contracts.names import SdeType
from worker.contracts.replay_bounds import BF16_BOUNDS, ReplayGateSpec
from worker.contracts.sections import BaseModelSpec
from worker.scheduling.profiles.known_models import profile_of

PRESETS = Path(__file__).resolve().parents[3] / "deploy" / "presets"
STAGES = ("gate", "compiled")
MARGIN = 4.0
"""Twice for trained weights, whose activations have outliers that random ones lack, and twice for sizes, prompts and
schedules that were not measured; an estimate. The bounds that stand on tiny models are 2 to 15 times what they gave."""
SMALLEST_SHARE = 0.1
"""Of the usual bounds: a preset's are not tighter. A statistic of 0 says that kernels agreed in the cases measured, not
that they always do."""


@dataclass(frozen=True, slots=True)
class MeasuredPreset:
    """A shipped preset whose family the report measures with all SDEs."""

    file: str
    num_layers: int
    """Of its own base model."""
    rows: list[Row]
    """The gate's statistics of models of its family."""

    @property
    def section(self) -> ReplayGateSpec:
        """Its bounds."""
        return ReplayGateSpec(
            max_rms_error=self._bound("rms", BF16_BOUNDS.rms_error),
            max_quantile_error=self._bound("quantile", BF16_BOUNDS.quantile_error),
            max_ratio_error=self._bound("ratio_deviation", BF16_BOUNDS.ratio_error),
        )

    @property
    def basis(self) -> str:
        """The blocks that the bounds stand on."""
        measured = {row["model"]: row["layers"] for row in self.rows}
        return " and ".join(self._extrapolated(model, layers) for model, layers in measured.items())

    def _bound(self, statistic: str, usual: float | None) -> float:
        assert usual is not None, "judged in bf16"
        largest = max(row[statistic] * math.sqrt(self.num_layers / row["layers"]) for row in self.rows)
        return _rounded_up(max(MARGIN * largest, SMALLEST_SHARE * usual))

    def _extrapolated(self, model: str, layers: int) -> str:
        growth = "" if layers == self.num_layers else f" × √({self.num_layers} ÷ {layers})"
        return f"{layers} blocks of {model}{growth}"


def measured_presets(report: BenchReport) -> Iterator[MeasuredPreset]:
    """The presets that the report sets the bounds of."""
    rows = [row for stage in STAGES for row in report.rows(stage) if "kernel" in row]
    for path in sorted(PRESETS.glob("*.yaml")):
        base_model = BaseModelSpec.model_validate(yaml.safe_load(path.read_text())["spec"]["base_model"])
        of_family = [row for row in rows if row["family"] == base_model.family.value]
        if base_model.dtype == "bf16" and {row["kernel"] for row in of_family} == {kernel.value for kernel in SdeType}:
            yield MeasuredPreset(path.name, profile_of(base_model).num_layers, of_family)


def section_lines(report: BenchReport, source: str) -> Iterator[str]:
    """The sections as YAML, indented as below `spec`, each with what it stands on; `source` names the run."""
    for preset in measured_presets(report):
        values = ", ".join(f"{name}: {value:g}" for name, value in preset.section.model_dump(exclude_none=True).items())
        yield f"# deploy/presets/{preset.file}, below `spec:`"
        yield f"  # {MARGIN:g} × the most that random weights gave, at least {SMALLEST_SHARE:g} × the usual bound:"
        yield f"  # {preset.basis};"
        yield f"  # {source}"
        yield f"  replay_gate: {{{values}}}"


def _rounded_up(value: float) -> float:
    """To two digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    # A value that has two digits already is not raised for the rounding of its division.
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.2g}")
