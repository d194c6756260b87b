"""A run as notebooks show it."""

from collections.abc import Mapping
from html import escape
from typing import Any


def run_card(run: Mapping[str, Any]) -> str:
    """Name, state, progress and held-out reward, as HTML that takes the notebook's own colours."""
    headline = run.get("headline") or {}
    before, after = headline.get("reward_before"), headline.get("reward_after")
    reward = f"<br>held-out reward {before:.4g} → {after:.4g}" if None not in (before, after) else ""
    warning = f"<br>{escape(run['warning'])}" if run.get("warning") else ""
    return (
        f"<div><b>{escape(run['name'])}</b> · {escape(run['state'])}<br>"
        f'<progress max="{int(run["num_batches"])}" value="{int(run["num_batches_done"])}"></progress> '
        f"{int(run['num_batches_done'])} of {int(run['num_batches'])} batches{reward}{warning}<br>"
        f"<code>{escape(run['id'])}</code></div>"
    )
