"""Settings of signing in: local accounts, throttling, second factors, and providers of OpenID Connect.

Without any of the variables local accounts sign in by password, as they always did.
"""

from server.environment import env

# --- Tandem -----------------------------------------------------------------------------------------------------------

TANDEM_SECOND_FACTOR = env.str("TANDEM_SECOND_FACTOR", "optional")
"""Who must have one to sign in by password: `optional` for nobody, `admins`, or `everyone`."""
TANDEM_PROXIES = env.int("TANDEM_PROXIES", 0)
"""How many proxies of one's own stand before the web: as many entries at the end of `X-Forwarded-For` are believed."""

TANDEM_OIDC_PROVIDERS = env.str("TANDEM_OIDC_PROVIDERS", "")
"""The file of the providers of OpenID Connect (`accounts.sign_in.provider_file`); without it there is none."""
TANDEM_OIDC_ONLY = env.bool("TANDEM_OIDC_ONLY", False)
"""Whether passwords and passkeys open nothing any more."""

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
    }
}
