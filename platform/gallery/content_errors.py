"""What the checks of uploaded files share."""

from typing import IO


class ContentRefused(Exception):
    """The bytes are not what the path's ending says; the message tells what is wrong with them."""


def read_exactly(file: IO[bytes], number: int, what: str) -> bytes:
    """The next bytes. Raises `ContentRefused` where there are fewer."""
    found = file.read(number)
    if len(found) < number:
        raise ContentRefused(f"{what} ends before its end")
    return found
