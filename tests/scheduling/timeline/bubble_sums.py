"""One set of spans with the sums that `BubbleLedger` computes from them, committed as `bubble_sums.json`.

Other implementations of the same sums are tested against that file: the web's SQL in `tests/web/telemetry`, the page's
shares in `frontend/src/timeline`. `python -m tests.scheduling.timeline.bubble_sums` writes it again.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from worker.contracts.spans import IdleCause, Span, SpanKind
from worker.scheduling.timeline.bubble_ledger import BubbleLedger, SpanClass
from worker.scheduling.timeline.busy_share import busy_share

PATH = Path(__file__).with_name("bubble_sums.json")

LANES: dict[str, tuple[tuple[str, float], ...]] = {
    "trainer-0": (
        ("idle:start_up", 2.0),
        ("train", 6.5),
        ("lent_generate", 3.25),
        ("switch", 0.25),
        ("publish", 1.0),
        ("pause", 4.0),
        ("idle:resize", 1.5),
        ("train", 2.0),
    ),
    "rollout-0": (
        ("idle:start_up", 1.5),
        ("generate", 7.0),
        ("decode", 0.5),
        ("idle:publish_wait", 3.0),
        ("pull", 1.0),
        ("pause", 4.0),
    ),
    "rollout-1": (("generate", 4.0), ("idle:no_fragment_ready", 5.0), ("generate", 2.0), ("idle:resize", 1.75)),
    "rollout-2": (("pause", 3.0),),
    "reward-0": (("idle:no_fragment_ready", 8.0), ("score", 0.75), ("idle:no_fragment_ready", 2.0)),
    "driver": (("checkpoint", 0.5), ("evaluate", 1.25), ("idle:drain", 0.25)),
}
"""By lane: (class, seconds) of its spans in order. Seconds are binary fractions, so that every sum is exact."""
START = 1_700_000_000.0
"""Unix time at which every lane starts."""


def spans() -> Iterator[Span]:
    for lane, classes in LANES.items():
        at = START
        for name, seconds in classes:
            kind, _, cause = name.partition(":")
            yield Span(
                lane=lane, kind=SpanKind(kind), cause=IdleCause(cause) if cause else None, start=at, end=at + seconds
            )
            at += seconds


def class_name(span_class: SpanClass) -> str:
    """The name of a class in the REST API."""
    kind, cause = span_class
    return kind.value if cause is None else f"{kind.value}:{cause.value}"


def sums() -> dict[str, Any]:
    """The spans, their seconds by class, and their busy share: of each lane, and of all together."""
    ledger = BubbleLedger()
    for span in spans():
        ledger.add(span)

    def named(seconds: dict[SpanClass, float]) -> dict[str, float]:
        return {class_name(span_class): part for span_class, part in sorted(seconds.items(), key=str)}

    return {
        "spans": [span.model_dump(mode="json", exclude_defaults=True) for span in spans()],
        "by_lane": {lane: named(ledger.seconds(lane)) for lane in ledger.lanes},
        "by_class": named(ledger.seconds()),
        "busy_share_by_lane": {lane: busy_share(named(ledger.seconds(lane))) for lane in ledger.lanes},
        "busy_share": busy_share(named(ledger.seconds())),
        "total_seconds": sum(ledger.seconds().values()),
    }


if __name__ == "__main__":
    PATH.write_text(json.dumps(sums(), indent=1) + "\n")
