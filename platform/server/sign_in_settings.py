"""Settings of signing in: local accounts, throttling, second factors, and a provider of OpenID Connect.

Without any of the variables local accounts sign in by password, as they always did.
"""

from server.environment import env

# --- Tandem -----------------------------------------------------------------------------------------------------------

TANDEM_SECOND_FACTOR = env.str("TANDEM_SECOND_FACTOR", "optional")
"""Who must have one to sign in by password: `optional` for nobody, `admins`, or `everyone`."""
TANDEM_PROXIES = env.int("TANDEM_PROXIES", 0)
"""How many proxies of one's own stand before the web: as many entries at the end of `X-Forwarded-For` are believed."""

TANDEM_OIDC_ISSUER = env.str("TANDEM_OIDC_ISSUER", "").rstrip("/")
"""The provider, as its discovery document calls itself; without it there is none, and the rest means nothing."""
TANDEM_OIDC_CLIENT_ID = env.str("TANDEM_OIDC_CLIENT_ID", "")
TANDEM_OIDC_CLIENT_SECRET = env.str("TANDEM_OIDC_CLIENT_SECRET", "")
TANDEM_OIDC_NAME = env.str("TANDEM_OIDC_NAME", "") or "single sign-on"
TANDEM_OIDC_SCOPES = env.list("TANDEM_OIDC_SCOPES", default=["openid", "profile", "email"])
TANDEM_OIDC_ONLY = env.bool("TANDEM_OIDC_ONLY", False)
"""Whether passwords open nothing any more."""
TANDEM_OIDC_LINK_BY_EMAIL = env.bool("TANDEM_OIDC_LINK_BY_EMAIL", False)
TANDEM_OIDC_TRUSTED_EMAIL_DOMAINS = [
    domain.lower() for domain in env.list("TANDEM_OIDC_TRUSTED_EMAIL_DOMAINS", default=[])
]
TANDEM_OIDC_GROUPS_CLAIM = env.str("TANDEM_OIDC_GROUPS_CLAIM", "groups")
TANDEM_OIDC_REQUIRED_GROUPS = env.list("TANDEM_OIDC_REQUIRED_GROUPS", default=[])
TANDEM_OIDC_GROUP_ROLES = env.str("TANDEM_OIDC_GROUP_ROLES", "")
TANDEM_OIDC_SESSION_HOURS = env.float("TANDEM_OIDC_SESSION_HOURS", 12.0)
"""A working day: groups are read again at the next sign-in."""

# --- django-allauth ---------------------------------------------------------------------------------------------------

SIGN_IN_APPS = [
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
]
ACCOUNT_ADAPTER = "accounts.sign_in.account_adapter.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
# `SocialAdapter` says who may have an address that somebody else has.
ACCOUNT_UNIQUE_EMAIL = False
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
# Of failed attempts, those by one address and those at one account, whether it exists or not: nobody mistypes ten times
# a minute, and by five in five minutes a password of ten letters is never guessed.
ACCOUNT_RATE_LIMITS = {"login": "30/m/ip", "login_failed": "10/m/ip,5/5m/key"}
ALLAUTH_TRUSTED_PROXY_COUNT = TANDEM_PROXIES
MFA_ADAPTER = "accounts.sign_in.second_factors.SecondFactorAdapter"
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
# As passwords by one address; of passkeys there is nothing to be guessed.
MFA_RATE_LIMITS = {"webauthn_login": "30/m/ip"}
MFA_TOTP_ISSUER = "Tandem"
# Administrators give users their addresses; nobody proves one here.
MFA_ALLOW_UNVERIFIED_EMAIL = True
SOCIALACCOUNT_ADAPTER = "accounts.sign_in.social_adapter.SocialAdapter"
SOCIALACCOUNT_REAUTHENTICATION_REQUIRED = True
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "provider_class": "accounts.sign_in.oidc_provider.OidcProvider",
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": "oidc",
                "name": TANDEM_OIDC_NAME,
                "client_id": TANDEM_OIDC_CLIENT_ID,
                "secret": TANDEM_OIDC_CLIENT_SECRET,
                "settings": {"server_url": TANDEM_OIDC_ISSUER, "scope": TANDEM_OIDC_SCOPES},
            }
        ],
    }
}
