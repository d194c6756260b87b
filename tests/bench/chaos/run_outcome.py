"""What a run has left behind, to compare one that was struck with one that was not."""

from dataclasses import dataclass
from typing import Any

from tests.bench.chaos.scene import Scene

SAME_IN_EVERY_RUN = ("reward/", "policy/")
"""Curves that the deterministic mode promises bit for bit; speeds and the lanes' idle shares are as they come."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    points: dict[tuple[str, int, int], list[float]]
    """The values by metric, batch and optimizer step; more than one where a point is doubled."""
    versions: dict[int, set[str]]
    """The checksums of all publications of each policy version."""
    has_download: bool
    """Whether the final LoRA can be downloaded. Its file names the run, so its own checksum is of that run alone."""

    @classmethod
    def of(cls, scene: Scene) -> "RunOutcome":
        points: dict[tuple[str, int, int], list[float]] = {}
        series = scene.rest.get(f"/runs/{scene.run}/metrics?max_points=5000")["series"]
        for key, curve in series.items():
            if key.startswith(SAME_IN_EVERY_RUN):
                for batch, step, value in zip(curve["batch"], curve["optimizer_step"], curve["value"], strict=True):
                    points.setdefault((key, batch, step), []).append(value)
        versions: dict[int, set[str]] = {}
        for event in scene.rest.results(f"/runs/{scene.run}/events?types=publish&after_seq=0&limit=1000"):
            versions.setdefault(event["body"]["policy_version"], set()).add(event["body"]["sha256"])
        has_download = any(each["final"] for each in scene.rest.results(f"/runs/{scene.run}/adapters"))
        return cls(points, versions, has_download)


def compared(found: RunOutcome, expected: RunOutcome) -> dict[str, Any]:
    """Where a run differs from the undisturbed one."""
    both = found.points.keys() & expected.points.keys()
    return {
        "points_doubled": sum(len(values) > 1 for values in found.points.values()),
        "points_missing": len(expected.points.keys() - found.points.keys()),
        "points_too_many": len(found.points.keys() - expected.points.keys()),
        "points_different": sum(found.points[key][0] != expected.points[key][0] for key in both),
        "weights_equal": found.versions == expected.versions,
        "has_download": found.has_download,
    }
