"""Every address of the web side with its methods, found in the resolver: what is not listed cannot be forgotten."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.urls import URLPattern, URLResolver, get_resolver

PLAIN_METHODS = ("get", "post", "put", "patch", "delete")


def every_request() -> list[str]:
    """`method address` for each method that a view answers. Of Django's admin only the beginning: it has rules of its
    own, one for all of it."""
    return sorted(_requests(get_resolver().url_patterns, ""))


def _requests(found: list[URLPattern | URLResolver], prefix: str) -> Iterator[str]:
    for entry in found:
        address = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            if entry.app_name == admin.site.name:
                yield f"get {address}"
            else:
                yield from _requests(entry.url_patterns, address)
        else:
            yield from (f"{method} {address}" for method in _methods(entry.callback))


def _methods(view: Any) -> tuple[str, ...]:
    """The methods of a view: of a class those it defines, of a function those that it does not refuse."""
    kind = getattr(view, "cls", None) or getattr(view, "view_class", None)
    if kind is None:
        return PLAIN_METHODS
    actions = getattr(view, "actions", None) or {method: method for method in PLAIN_METHODS}
    return tuple(method for method in PLAIN_METHODS if method in actions and hasattr(kind, actions[method]))
