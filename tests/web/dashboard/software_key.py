"""A security key in software: makes and signs answers as browsers send them (WebAuthn level 2), by a P-256 key."""

import base64
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.cose import ES256
from fido2.webauthn import AttestationObject, AttestedCredentialData, AuthenticatorData

ORIGIN = "https://testserver"
Flag = AuthenticatorData.FLAG


def text_of(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


@dataclass
class SoftwareKey:
    asks_for_person: bool = True
    """Whether it has a PIN or a fingerprint, and says that it was given."""
    identity: bytes = b"credential-1"
    origin: str = ORIGIN
    private: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    owner: str = ""
    """The user handle that it was made with."""

    def made(self, asked: dict[str, Any], *, stays: bool) -> str:
        """The answer to `navigator.credentials.create`, with what the browser says of whether it stays on the key."""
        self.owner = asked["user"]["id"]
        public = ES256.from_cryptography_key(self.private.public_key())
        data = AttestedCredentialData.create(bytes(16), self.identity, public)
        about = AuthenticatorData.create(self._of(asked["rp"]["id"]), self._flags | Flag.AT, 0, data)
        response = {
            "clientDataJSON": text_of(self._client_data("webauthn.create", asked)),
            "attestationObject": text_of(AttestationObject.create("none", about, {})),
        }
        return self._sent(response, {"credProps": {"rk": stays}})

    def used(self, asked: dict[str, Any], *, owner: str = "") -> str:
        """The answer to `navigator.credentials.get`."""
        about = AuthenticatorData.create(self._of(asked["rpId"]), self._flags, 1)
        told = self._client_data("webauthn.get", asked)
        signature = self.private.sign(about + hashlib.sha256(told).digest(), ec.ECDSA(hashes.SHA256()))
        response = {
            "clientDataJSON": text_of(told),
            "authenticatorData": text_of(about),
            "signature": text_of(signature),
            "userHandle": owner or self.owner,
        }
        return self._sent(response, {})

    @property
    def _flags(self) -> Any:
        return Flag.UP | Flag.UV if self.asks_for_person else Flag.UP

    @staticmethod
    def _of(server: str) -> bytes:
        return hashlib.sha256(server.encode()).digest()

    def _client_data(self, kind: str, asked: dict[str, Any]) -> bytes:
        return json.dumps({"type": kind, "challenge": asked["challenge"], "origin": self.origin}).encode()

    def _sent(self, response: dict[str, str], extensions: dict[str, Any]) -> str:
        identity = text_of(self.identity)
        told = {"id": identity, "rawId": identity, "type": "public-key", "response": response}
        return json.dumps({**told, "clientExtensionResults": extensions})
