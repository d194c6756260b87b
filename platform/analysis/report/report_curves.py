"""The curves of a report as inline SVG: one small chart for each number that was measured, with its definition.

Invariant: the vertical range is that of the curve and its band, and its ends are written beside it, so no curve is cut
off and none is drawn steeper than its labels say.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from telemetry.curves.curves import Curves, Series
from worker.contracts.metric_names import Metric

MAX_POINTS = 240
"""Points of a curve: about one for each pixel that a chart is wide in print."""
WIDTH, HEIGHT = 320.0, 104.0
"""Of a chart's plot, in units of its view box."""

_CURVES: tuple[tuple[Metric, str, str], ...] = (
    (Metric.REWARD_MEAN, "Reward", "Mean over a batch of the weighted sum of the trained rewards; ± 1 std."),
    (Metric.EVAL_REWARD, "Held-out reward", "The same on seeds that the run never trains on, drawn without noise."),
    (Metric.KL, "KL to the reference", "How far the policy has moved from the base model."),
    (Metric.RATIO_MEAN, "Ratio", "Probability when trained ÷ when sampled; 1 on fresh data."),
    (Metric.CLIP_FRACTION, "Clip fraction", "Share of pairs whose ratio was clipped or masked."),
    (Metric.LOSS, "Loss", "What the optimizer minimises, as the algorithm defines it."),
    (Metric.GRAD_NORM, "Gradient norm", "L2 norm before clipping."),
    (Metric.STALENESS_MEAN, "Staleness", "Policy versions between sampling and training, mean of a batch."),
    (Metric.IMAGES_PER_SECOND, "Samples per second", "Trajectories trained on ÷ the batch's wall time."),
    (Metric.BATCH_SECONDS, "Seconds per batch", "From one published version to the next."),
    (Metric.IDLE_SHARE, "Idle share", "Share of lane time in which a lane waited."),
    (Metric.ZERO_STD_GROUPS, "Groups without spread", "Share of groups whose rewards are all equal: no gradient."),
)
_PARTS = ((Metric.EVAL_PART, "Held-out"), (Metric.REWARD_PART, "Reward part"))
_SMALLEST_SPAN = 1e-12
"""A range below this, relative to its values, counts as one value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One curve, ready to be drawn."""

    key: str
    title: str
    definition: str
    line: str
    """The `d` of an SVG path."""
    band: str
    """The `d` of the area between the smallest and the largest value; empty without one."""
    end: tuple[float, float]
    """Where the curve ends."""
    low: float
    high: float
    first_batch: int
    last_batch: int
    last: float


def charts(found: Curves) -> list[Chart]:
    """The charts of all curves that say something about the run, in the order of a reader's questions."""
    return [
        _chart(key, title, definition, found["series"][key], _band(key, found))
        for key, title, definition in _wanted(found)
        if found["series"].get(key) and found["series"][key]["value"]
    ]


def _wanted(found: Curves) -> Iterator[tuple[str, str, str]]:
    for metric, title, definition in _CURVES:
        yield metric.value, title, definition
    for metric, title in _PARTS:
        prefix = metric.value.removesuffix("{name}")
        for key in sorted(found["series"]):
            if key.startswith(prefix):
                yield key, f"{title}: {key.removeprefix(prefix).replace('_', ' ')}", "Mean of this reward alone."


def _band(key: str, found: Curves) -> tuple[Sequence[float], Sequence[float]] | None:
    """The lower and upper edge: one standard deviation of the reward, else what lies behind each point."""
    series, spread = found["series"][key], found["series"].get(Metric.REWARD_STD.value)
    if key == Metric.REWARD_MEAN.value and spread and spread["batch"] == series["batch"]:
        pairs = list(zip(series["value"], spread["value"], strict=True))
        return [mean - std for mean, std in pairs], [mean + std for mean, std in pairs]
    return (series["min"], series["max"]) if series["min"] != series["max"] else None


def _chart(
    key: str, title: str, definition: str, series: Series, band: tuple[Sequence[float], Sequence[float]] | None
) -> Chart:
    values, batches = series["value"], series["batch"]
    lower, upper = band or (values, values)
    low, high = min(lower), max(upper)
    span = high - low
    is_flat = span <= _SMALLEST_SPAN * max(abs(low), abs(high), 1.0)
    length = max(1, batches[-1] - batches[0])

    def place(batch: int, value: float) -> tuple[float, float]:
        across = (batch - batches[0]) / length * WIDTH if len(batches) > 1 else WIDTH / 2
        return round(across, 1), round(HEIGHT / 2 if is_flat else HEIGHT - (value - low) / span * HEIGHT, 1)

    points = [place(batch, value) for batch, value in zip(batches, values, strict=True)]
    area = ""
    if band is not None and not is_flat:
        over = [place(batch, value) for batch, value in zip(batches, upper, strict=True)]
        under = [place(batch, value) for batch, value in zip(batches, lower, strict=True)]
        area = f"{_path([*over, *reversed(under)])}Z"
    return Chart(
        key=key,
        title=title,
        definition=definition,
        line=_path(points),
        band=area,
        end=points[-1],
        low=low,
        high=high,
        first_batch=batches[0],
        last_batch=batches[-1],
        last=values[-1],
    )


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
