"""Keeps the codes of sign-in links out of the log: Django names the path of every request that it refuses."""

import logging
import re

_LINK = re.compile(r"(/login/link/)[^/\s]+")


class LinkLogFilter(logging.Filter):
    """Lets every record through, with the codes replaced."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(_LINK.sub(r"\1…", one) if isinstance(one, str) else one for one in record.args)
        return True
