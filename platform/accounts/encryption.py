"""Encryption of secrets with a key derived from `SECRET_KEY`, so that a copy of the database reveals none.

The cipher is Fernet (AES-128-CBC with HMAC-SHA256), its key derived by HKDF (RFC 5869). Secrets encrypted under a key
in `SECRET_KEY_FALLBACKS` can still be decrypted.
"""

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.encoding import force_bytes

_PURPOSE = b"tandem: secrets of projects"
"""Kept as it was first, though secrets of accounts are encrypted too: another one would make all of them unreadable."""


class CannotDecrypt(ValueError):
    """The secret was encrypted under another `SECRET_KEY` and must be entered again."""


def encrypt(text: str) -> str:
    return _cipher().encrypt(text.encode()).decode()


def decrypt(token: str) -> str:
    """The text of a stored secret. Raises `CannotDecrypt`."""
    try:
        return _cipher().decrypt(token.encode()).decode()
    except InvalidToken as error:
        raise CannotDecrypt("`SECRET_KEY` has changed since this secret was stored: enter it again") from error


def _cipher() -> MultiFernet:
    return MultiFernet([_fernet(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _fernet(key: str | bytes) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE).derive(force_bytes(key))
    return Fernet(base64.urlsafe_b64encode(derived))
