"""How secrets are kept: encrypted with a key derived from `SECRET_KEY`, so that a copy of the database tells none.

Fernet (AES-128-CBC with HMAC-SHA256) under a key of its own by HKDF (RFC 5869). Keys in `SECRET_KEY_FALLBACKS` still
open what they sealed.
"""

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.encoding import force_bytes

_PURPOSE = b"tandem: secrets of projects"


class CannotOpen(ValueError):
    """Sealed under another `SECRET_KEY`: the secret must be entered again."""


def seal(text: str) -> str:
    return _box().encrypt(text.encode()).decode()


def open_sealed(sealed: str) -> str:
    """Raises `CannotOpen`."""
    try:
        return _box().decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise CannotOpen("`SECRET_KEY` has changed since this secret was stored: enter it again") from error


def _box() -> MultiFernet:
    return MultiFernet([_fernet(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _fernet(key: str | bytes) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE).derive(force_bytes(key))
    return Fernet(base64.urlsafe_b64encode(derived))
