"""Single-use codes and run tokens: made of 32 random bytes, kept only as SHA-256, compared in constant time.

A plain hash is enough, because random bytes cannot be guessed; slow password hashes are for secrets that people choose.
"""

import hashlib
import hmac
import secrets


def new_secret() -> str:
    return secrets.token_urlsafe(32)


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def matches(secret: str, kept_hash: str) -> bool:
    """False also where no hash is kept."""
    return bool(kept_hash) and hmac.compare_digest(hash_secret(secret), kept_hash)
