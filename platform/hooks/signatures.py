"""Secrets and signatures of Standard Webhooks (standardwebhooks.com), version 1: HMAC-SHA256.

The signature is over `<id>.<timestamp>.<body>`, so that neither an old message nor its time can be sent as new.
"""

import base64
import hashlib
import hmac
from collections.abc import Iterable
from secrets import token_bytes

PREFIX = "whsec_"
NUM_SECRET_BYTES = 32
"""The standard asks for 24 to 64; 32 is the length of the hash."""


def new_signing_secret() -> str:
    return PREFIX + base64.b64encode(token_bytes(NUM_SECRET_BYTES)).decode()


def signed_headers(secrets: Iterable[str], *, message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The headers by which a receiver who has one of the secrets knows the message: a signature by each, separated by
    spaces."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{_signature(secret, signed)}" for secret in secrets),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
