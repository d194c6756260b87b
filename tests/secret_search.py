"""Whether a text holds a secret, in the forms in which programs write one down."""

import base64
import re
from urllib.parse import quote


def holds(text: bytes, secret: str) -> bool:
    """Also as base64, hexadecimal or in an address, between other letters too; recovery codes are eight digits, which
    other numbers may hold."""
    raw = secret.encode()
    if secret.isdigit():
        return re.search(rb"(?<![0-9a-f.])" + raw + rb"(?![0-9a-f.])", text) is not None
    forms = {raw, base64.b64encode(raw).rstrip(b"="), raw.hex().encode(), quote(secret, safe="").encode()}
    return any(form in text for form in forms)
