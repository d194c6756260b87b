"""Filters of the report's template: numbers and durations as people read them."""

import math

from django import template

register = template.Library()

_DIGITS = 3
"""Significant digits of a measured number: more are below the noise of any run."""


@register.filter
def measured(value: float | None) -> str:
    """`0.12345` → `0.123`, `1234.5` → `1,234`; a dash where nothing was measured."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    if magnitude >= _DIGITS:
        return f"{value:,.0f}"
    return f"{value:.{_DIGITS}g}" if magnitude < -_DIGITS - 1 else f"{value:.{max(0, _DIGITS - 1 - magnitude)}f}"


@register.filter
def signed(value: float) -> str:
    """The same with its sign."""
    return f"{'+' if value >= 0 else '−'}{measured(abs(value))}"


@register.filter
def in_time(seconds: float | None) -> str:
    """`3725` → `1 h 2 min`, `4.2` → `4.2 s`."""
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{measured(seconds)} s"
    minutes = round(seconds / 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min" if hours else f"{minutes} min"
