"""Settings of signing in: local accounts, throttling, second factors, and a provider of OpenID Connect.

Without any of the variables local accounts sign in by password, as they always did.
"""

from server.environment import env

# --- Tandem -----------------------------------------------------------------------------------------------------------

TANDEM_SECOND_FACTOR = env.str("TANDEM_SECOND_FACTOR", "optional")
"""Who must have one to sign in by password: `optional` for nobody, `admins`, or `everyone`."""
TANDEM_PROXIES = env.int("TANDEM_PROXIES", 0)
"""How many proxies of one's own stand before the web: as many entries at the end of `X-Forwarded-For` are believed."""

# --- django-allauth ---------------------------------------------------------------------------------------------------

SIGN_IN_APPS = ["allauth", "allauth.account", "allauth.mfa"]
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
ACCOUNT_ADAPTER = "accounts.sign_in.account_adapter.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
# Of failed attempts, those by one address and those at one account, whether it exists or not: nobody mistypes ten times
# a minute, and by five in five minutes a password of ten letters is never guessed.
ACCOUNT_RATE_LIMITS = {"login": "30/m/ip", "login_failed": "10/m/ip,5/5m/key"}
ALLAUTH_TRUSTED_PROXY_COUNT = TANDEM_PROXIES
MFA_ADAPTER = "accounts.sign_in.second_factors.SecondFactorAdapter"
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Tandem"
# Administrators give users their addresses; nobody proves one here.
MFA_ALLOW_UNVERIFIED_EMAIL = True
