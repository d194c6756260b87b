"""Values of `TANDEM_SECOND_FACTOR`: of whom sign-ins by password ask one. No models, for the check of settings."""

OPTIONAL, ADMINS, EVERYONE = POLICIES = ("optional", "admins", "everyone")
