"""The rows of `make chaos` as a table in Markdown, for the terminal and the report."""

from typing import Any

from tests.bench.chaos.struck_run import HEALED

COLUMNS = (
    *("fault", "after batch", "seen first", "detected", "goes on"),
    *("attempts", "batches redone", "lanes freed", "outcome"),
)
MAX_SEEN = 90
UNTOLD = (HEALED, "→ completed")
"""What is seen in every run, or is the bench's own."""


def table(result: dict[str, Any]) -> str:
    rows = [COLUMNS, tuple("---" for _ in COLUMNS), *(_cells(row) for row in result["rows"])]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    if "state" not in row:
        why = row.get("not_struck") or "; ".join(row.get("problems", ()))
        return (row["fault"], *["–"] * (len(COLUMNS) - 2), f"not struck: {why}")
    seen = [text.partition(": ")[2] for text in row["seen"] if not any(mark in text for mark in UNTOLD)]
    outcome = "; ".join(row["problems"]) or "all points, equal weights"
    return (
        row["fault"],
        f"{row['batch']} + {row['seconds_in']:.1f} s",
        _short(seen[0]) if seen else "nothing",
        _seconds(row["detect_seconds"]),
        _seconds(row["recover_seconds"]) if row["recover_seconds"] else "at once",
        str(row["num_attempts"]),
        str(row["batches_redone"]),
        _seconds(row["freed_seconds"]),
        outcome,
    )


def _short(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|")
    return line if len(line) <= MAX_SEEN else f"{line[: MAX_SEEN - 1]}…"


def _seconds(value: float | None) -> str:
    return "not" if value is None else f"{value:.1f} s"
