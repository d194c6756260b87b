"""The servers that a user is signed in to, in one file that only the user may read.

`TANDEM_URL` and `TANDEM_TOKEN` go before the file, for machines without one.
"""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tandem.errors import NotSignedIn

OWNER_ONLY = 0o600


@dataclass(frozen=True, slots=True)
class Context:
    """A server and the token for it."""

    url: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Contexts:
    """All contexts by name, and which one is used when none is named."""

    by_name: dict[str, Context]
    current: str = ""


def contexts_file() -> Path:
    """Below `XDG_CONFIG_HOME`, on Windows below `APPDATA`."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.environ.get("APPDATA")
    return (Path(base) if base else Path.home() / ".config") / "tandem" / "contexts.json"


def load_contexts() -> Contexts:
    """Raises `NotSignedIn` for a file that cannot be read."""
    path = contexts_file()
    if not path.exists():
        return Contexts({})
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return Contexts({name: Context(**each) for name, each in stored["contexts"].items()}, stored["current"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotSignedIn(f"{path} cannot be read ({error}): delete it and sign in with `tandem login`") from error


def save_contexts(contexts: Contexts) -> None:
    """Written beside and moved into place, never readable by others."""
    path = contexts_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    beside.unlink(missing_ok=True)
    stored = {"current": contexts.current, "contexts": {name: asdict(each) for name, each in contexts.by_name.items()}}
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY), "w", encoding="utf-8") as file:
        json.dump(stored, file, indent=2)
    beside.replace(path)


def chosen_context(name: str = "") -> Context:
    """The context `name`, else that of the environment, else the current one.

    Raises:
        NotSignedIn: there is none.
    """
    if not name and (url := os.environ.get("TANDEM_URL")):
        if token := os.environ.get("TANDEM_TOKEN"):
            return Context(url, token)
        # A known server's token serves for its address too.
        if known := next((each for each in load_contexts().by_name.values() if each.url == url.rstrip("/")), None):
            return known
        raise NotSignedIn(f"`TANDEM_URL` is {url}, and `TANDEM_TOKEN` is missing: set it, or sign in there")
    contexts = load_contexts()
    wanted = name or contexts.current
    if found := contexts.by_name.get(wanted):
        return Context(found.url, os.environ.get("TANDEM_TOKEN") or found.token) if not name else found
    if name:
        known_names = ", ".join(sorted(contexts.by_name)) or "none"
        raise NotSignedIn(f"there is no context {name!r}, known are: {known_names}. `tandem login` makes one")
    raise NotSignedIn("you are not signed in: run `tandem login URL`, or set `TANDEM_URL` and `TANDEM_TOKEN`")
