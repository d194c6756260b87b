"""From a report of `make bench-gpu` to the fields of a profile in `worker.scheduling.profiles.hardware`, and to the
`replay_gate` sections of the shipped presets (`gate_bounds`).

    python -m tests.bench.gpu.profile_values var/bench/gpu.json

Prints them as they are written there, with the run that they come from as their source. Two batches of one size tell
the seconds that depend on the size of a call from those that do not:

    seconds(batch) = layers × launching + batch × operations ÷ (peak × efficiency)

Peak rates stay the makers': efficiencies are relative to them. A report of tiny shapes is refused.
"""

import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.bench.gpu.bench_report import BenchReport, Row
from tests.bench.gpu.gate_bounds import section_lines
from worker.scheduling.profiles.hardware import Estimate

SHIPPED = "as shipped"
PLAIN_NUMBERS = frozenset({"host_bandwidth"})
"""Fields without a range, in bytes per second."""


class NoMeasurementError(ValueError):
    """A report that no profile can be set from."""


def profile_values(report: BenchReport) -> dict[str, Estimate]:
    """The fields of `Accelerator` that the report measures, by name; without those whose stages are missing.

    Raises:
        NoMeasurementError: for a report of tiny shapes or of a CPU.
    """
    if not report.document["is_measurement"]:
        raise NoMeasurementError(
            f"the report must be of full shapes on a device, got {report.document['shapes']} shapes on "
            f"{report.document['device']}: run `make bench-gpu` on the machine whose profile is to be set"
        )
    fits = list(_fits(report.rows("forward")))
    measured = {
        "generation_efficiency": [efficiency for efficiency, _ in fits],
        "layer_overhead_seconds": [overhead for _, overhead in fits],
        "training_efficiency": [row["efficiency"] for row in report.rows("training") if row["case"].endswith(SHIPPED)],
        "host_bandwidth": _rates(report.rows("ceilings"), "pinned"),
        "packing_bandwidth": _rates(report.rows("versions"), "pack of", "bind of"),
        # The stage measures a switch to generation and back.
        "switch_seconds": [row["seconds"] / 2 for row in report.rows("offload") if row["case"].startswith("switch")],
    }
    return {name: _estimate(values) for name, values in measured.items() if values}


def lines(report: BenchReport) -> Iterator[str]:
    """The fields as Python and the presets' sections as YAML, and where they come from."""
    for name, found in profile_values(report).items():
        if name in PLAIN_NUMBERS:
            yield f"{name}={found.value / 1e9:.1f} * GB,"
        else:
            of_another = "  # of `WeightTransfer`" if name == "packing_bandwidth" else ""
            yield f"{name}=Estimate({found.value:.3g}, {found.low:.3g}, {found.high:.3g}),{of_another}"
    document = report.document
    source = (
        f"make bench-gpu on {document['device']}, {document['began'][:10]}, commit {document['commit']}, torch "
        f"{document['packages'].get('torch')}."
    )
    yield f'efficiency_source="{source}",'
    yield from section_lines(report, source)


def _fits(rows: Sequence[Row]) -> Iterator[tuple[float, float]]:
    """(efficiency, launching seconds of a layer) of the passes as shipped, for each size measured with two batches."""
    shipped = [row for row in rows if row.get("variant") == SHIPPED]
    for tokens in sorted({row["tokens"] for row in shipped}):
        of_size = sorted((row for row in shipped if row["tokens"] == tokens), key=lambda row: row["batch"])
        if len(of_size) < 2:
            continue
        small, large = of_size[0], of_size[-1]
        per_sample = (large["seconds"] - small["seconds"]) / (large["batch"] - small["batch"])
        # MFU × seconds ÷ batch is one sample's operations over the peak.
        at_peak = small["mfu"] * small["seconds"] / small["batch"]
        overhead = max(0.0, small["seconds"] - small["batch"] * per_sample) / small["layers"]
        yield at_peak / per_sample, overhead


def _rates(rows: Iterable[Row], *parts: str) -> list[float]:
    return [row["bytes_per_second"] for row in rows if any(part in row["case"] for part in parts)]


def _estimate(values: Sequence[float]) -> Estimate:
    return Estimate(statistics.median(values), min(values), max(values))


if __name__ == "__main__":
    try:
        print("\n".join(lines(BenchReport.read(Path(sys.argv[1])))))
    except NoMeasurementError as error:
        sys.exit(str(error))
