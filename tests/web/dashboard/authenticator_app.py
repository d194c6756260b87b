"""An authenticator app, and how it is made one's second factor by the pages."""

import base64
import hashlib
import hmac
import re
import struct
import time

from django.test import Client

PASSWORD = "correct horse"
PERIOD_SECONDS = 30


def code_of(seed: str) -> str:
    """The code of an authenticator app (RFC 6238), computed here: allauth must not judge itself."""
    if PERIOD_SECONDS - time.time() % PERIOD_SECONDS < 1:
        # The next one is about to come, and this one would come too late.
        time.sleep(1)
    counter = struct.pack(">Q", int(time.time()) // PERIOD_SECONDS)
    digest = hmac.new(base64.b32decode(seed), counter, hashlib.sha1).digest()
    start = digest[-1] & 15
    number = struct.unpack(">I", digest[start : start + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"


def set_up(client: Client) -> tuple[str, list[str]]:
    """The seed and the recovery codes of a second factor that the client's user sets up by the pages."""
    confirm = client.get("/account/second-factor")
    if confirm.status_code == 302:
        # Asked of everybody who has a password.
        assert client.post(confirm.headers["Location"], {"password": PASSWORD}).status_code == 302
    seed = client.get("/account/second-factor").context["form"].secret
    done = client.post("/account/second-factor", {"code": code_of(seed)})
    assert done.headers["Location"] == "/account/recovery-codes"
    shown = client.get("/account/recovery-codes").content.decode()
    return seed, re.findall(r"<li>(\d{8})</li>", shown)
