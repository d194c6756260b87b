"""A small provider of OpenID Connect on a port of its own: discovery, keys, codes with PKCE, tokens, user information.

It does what the standard asks, so that a test says by `forge` what it does wrong.
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID, CLIENT_SECRET = "tandem", "the client's secret"
SECRET_FILE = "client.secret"
Claims = dict[str, Any]


class OpenIdProvider:
    """Signs in whoever `person` is, without asking."""

    def __init__(self) -> None:
        self.person: Claims = {"sub": "7f3a", "preferred_username": "erin", "email": "erin@example.org"}
        self.forge: Callable[[Claims], Claims] = lambda claims: claims
        """Changes the ID token's claims before they are signed."""
        self.userinfo: Claims = {}
        """Changes the user information."""
        self.signing = self.published = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.algorithm = "RS256"
        self.discovery: Claims = {}
        """Changes the discovery document."""
        self._codes: dict[str, Claims] = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.answer(self, dict(parse_qs(urlsplit(self.path).query)))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                provider.answer(self, dict(parse_qs(body)))

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler, asked: dict[str, list[str]]) -> None:
        fields = {name: values[0] for name, values in asked.items()}
        path = urlsplit(request.path).path
        if path == "/authorize":
            request.send_response(302)
            request.send_header("Location", self._authorize(fields))
            request.end_headers()
            return
        body: Claims | None = {
            "/.well-known/openid-configuration": self._discovery,
            "/jwks": self._keys,
            "/userinfo": lambda: self.person | self.userinfo,
            "/token": lambda: self._token(fields),
        }[path]()
        content = json.dumps(body or {"error": "invalid_grant"}).encode()
        request.send_response(200 if body else 400)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    def _discovery(self) -> Claims:
        ends = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "jwks"}
        addresses = {name: f"{self.issuer}/{end}" for name, end in {**ends, "userinfo_endpoint": "userinfo"}.items()}
        return {"issuer": self.issuer, **addresses} | self.discovery

    def _keys(self) -> Claims:
        key = jwt.algorithms.RSAAlgorithm.to_jwk(self.published.public_key(), as_dict=True)
        return {"keys": [{**key, "kid": "first", "use": "sig", "alg": "RS256"}]}

    def _authorize(self, asked: dict[str, str]) -> str:
        assert asked["response_type"] == "code" and asked["client_id"] == CLIENT_ID
        assert asked["code_challenge_method"] == "S256", "PKCE"
        code = secrets.token_urlsafe(8)
        self._codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def _token(self, asked: dict[str, str]) -> Claims | None:
        """None for a code that is unknown or used, another client, another address, and a wrong verifier."""
        begun = self._codes.pop(asked["code"], None)
        verifier = hashlib.sha256(asked["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(verifier).rstrip(b"=").decode()
        is_client = (asked["client_id"], asked["client_secret"]) == (CLIENT_ID, CLIENT_SECRET)
        if begun is None or not is_client:
            return None
        if begun["redirect_uri"] != asked["redirect_uri"] or begun["code_challenge"] != challenge:
            return None
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 300, "nonce": begun["nonce"]}
        signed = self.forge({**self.person, **claims})
        key: Any = self.signing if self.algorithm.startswith("RS") else ("" if self.algorithm == "none" else b"x" * 32)
        id_token = jwt.encode(signed, key, self.algorithm, headers={"kid": "first"})
        return {"access_token": "opaque", "token_type": "Bearer", "id_token": id_token}


def entry_of(provider: OpenIdProvider, provider_id: str, name: str) -> dict[str, Any]:
    """Its entry in the file of the providers, which has `SECRET_FILE` beside it."""
    known = {"id": provider_id, "name": name, "issuer": provider.issuer}
    return {**known, "client_id": CLIENT_ID, "client_secret_file": SECRET_FILE}
