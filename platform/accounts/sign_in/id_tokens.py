"""Checks an ID token as OpenID Connect Core 1.0, section 3.1.3.7, says; allauth leaves out signature and nonce."""

import hmac
from typing import Any

import jwt

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures by a key pair alone: with a shared secret everybody who checks could sign, and `none` is no signature."""
LEEWAY_SECONDS = 30
"""How far the provider's clock may differ from ours."""
NEEDED = ["iss", "sub", "aud", "exp", "iat"]


class IdTokenRefused(Exception):
    """The ID token is not one that the provider has just made for this sign-in."""


def verified_claims(
    id_token: str, *, keys: dict[str, Any], issuer: str, client_id: str, nonce: str | None
) -> dict[str, Any]:
    """What the token says. `keys` is the provider's key set (RFC 7517), `nonce` the one that this sign-in began with.

    Raises `IdTokenRefused`.
    """
    try:
        claims: dict[str, Any] = jwt.decode(
            id_token,
            _key(id_token, keys),
            algorithms=ALGORITHMS,
            issuer=issuer,
            audience=client_id,
            leeway=LEEWAY_SECONDS,
            options={"require": NEEDED},
        )
    except jwt.PyJWTError as error:
        raise IdTokenRefused(f"its ID token does not hold: {error}") from error
    if claims.get("azp", client_id) != client_id:
        raise IdTokenRefused(f"its ID token is for the client {claims['azp']!r}")
    if not nonce or not hmac.compare_digest(str(claims.get("nonce", "")), nonce):
        raise IdTokenRefused("its ID token belongs to another sign-in: the nonce differs")
    return claims


def _key(id_token: str, keys: dict[str, Any]) -> jwt.PyJWK:
    """The key that the token says it is signed with; the only one, where it says none."""
    usable = [key for key in jwt.PyJWKSet.from_dict(keys).keys if key.public_key_use in (None, "sig")]
    wanted = jwt.get_unverified_header(id_token).get("kid")
    matching = [key for key in usable if wanted is None or key.key_id == wanted]
    if len(matching) != 1:
        raise IdTokenRefused(f"{len(matching)} of its keys are called {wanted!r}, not one")
    return matching[0]
