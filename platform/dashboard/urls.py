"""Addresses of the pages. `login` is the name that settings redirect to; `mfa_…` and `account_…` are those by which
allauth finds the pages of its steps. Its other addresses, and its templates, are not served."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from dashboard import oidc_views, second_factor_views, security_key_views, sign_in_views, views

urlpatterns = [
    path("", views.home, name="home"),
    path("runs", views.runs, name="runs"),
    path("runs/new", views.new_run, name="new-run"),
    path("runs/<uuid:run_id>", views.run, name="run"),
    path("compare", views.compare, name="compare"),
    path("sweeps", views.sweeps, name="sweeps"),
    path("sweeps/new", views.new_sweep, name="new-sweep"),
    path("sweeps/<uuid:sweep_id>", views.sweep, name="sweep"),
    path("prompt-sets", views.prompt_sets, name="prompt-sets"),
    path("pool", views.pool, name="pool"),
    path("queue", views.queue, name="queue"),
    path("pool/gpus/<int:gpu_id>", views.gpu, name="gpu"),
    path("pool/occupancy", views.occupancy, name="occupancy"),
    path("usage", views.usage, name="usage"),
    path("audit", views.audit, name="audit"),
    path("retention", views.retention, name="retention"),
    path("lending", views.lending, name="lending"),
    path("projects", views.projects, name="projects"),
    path("account", views.account, name="account"),
    path("account/password", sign_in_views.ChangePasswordView.as_view(), name="password"),
    path("account/second-factor", second_factor_views.SetUpView.as_view(), name="mfa_activate_totp"),
    path("account/second-factor/remove", second_factor_views.RemoveView.as_view(), name="mfa_deactivate_totp"),
    path("account/security-keys/add", security_key_views.AddKeyView.as_view(), name="mfa_add_webauthn"),
    path(
        "account/security-keys/<int:key_id>/remove",
        security_key_views.RemoveKeyView.as_view(),
        name="mfa_remove_webauthn",
    ),
    path("account/recovery-codes", second_factor_views.RecoveryCodesView.as_view(), name="mfa_view_recovery_codes"),
    path(
        "account/recovery-codes/new",
        second_factor_views.NewRecoveryCodesView.as_view(),
        name="mfa_generate_recovery_codes",
    ),
    path("account/confirm/password", sign_in_views.ConfirmPasswordView.as_view(), name="account_reauthenticate"),
    path("account/confirm/code", second_factor_views.ConfirmCodeView.as_view(), name="mfa_reauthenticate"),
    path("account/providers/<slug:provider_id>/unlink", oidc_views.unlink, name="unlink"),
    path("account/confirm/key", security_key_views.ConfirmKeyView.as_view(), name="mfa_reauthenticate_webauthn"),
    path("login", sign_in_views.SignInView.as_view(), name="login"),
    path("login/passkey", security_key_views.PasskeyView.as_view(), name="mfa_login_webauthn"),
    path("login/second-factor", second_factor_views.AskSecondFactorView.as_view(), name="mfa_authenticate"),
    path("login/<slug:provider_id>/begin", oidc_views.begin, name="begin-at-provider"),
    path("login/<slug:provider_id>/callback", oidc_views.callback, name="openid_connect_callback"),
    path("login/link/<str:code>", oidc_views.sign_in_link, name="sign-in-link"),
    path("login/inactive", sign_in_views.inactive, name="account_inactive"),
    path("logout", LogoutView.as_view(), name="logout"),
    # allauth's names for pages that have ours.
    path("login", sign_in_views.SignInView.as_view(), name="account_login"),
    path("account", views.account, name="mfa_index"),
]
