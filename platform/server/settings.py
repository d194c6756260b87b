"""Django settings, all from the environment (`server.environment`). `server.checks` says what is wrong with them."""

import os
from datetime import timedelta
from typing import Any

from server import environment
from server.environment import ROOT, env
from server.retention_settings import *  # noqa: F403
from server.sign_in_settings import *  # noqa: F403
from server.sign_in_settings import SIGN_IN_APPS
from traces.switch import is_traced

# --- Tandem -----------------------------------------------------------------------------------------------------------

TANDEM_ROOT = ROOT
TANDEM_VAR = environment.VAR
TANDEM_TRACES = is_traced(os.environ)
TANDEM_PORT = environment.PORT
TANDEM_PUBLIC_URL = environment.PUBLIC_URL
TANDEM_MODEL_ROOTS = environment.model_roots()
TANDEM_PRESETS = ROOT / "deploy" / "presets"
TANDEM_CHECKPOINTS = env.str("TANDEM_CHECKPOINTS", "") or f"file://{TANDEM_VAR / 'checkpoints'}"
TANDEM_EMBEDDINGS = env.str("TANDEM_EMBEDDINGS", "") or str(TANDEM_VAR / "embeddings")
TANDEM_ARTIFACTS = env.str("TANDEM_ARTIFACTS", "") or f"file://{TANDEM_VAR / 'artifacts'}"
TANDEM_MAX_PAUSE_SECONDS = env.float("TANDEM_MAX_PAUSE_SECONDS", 600.0)
TANDEM_MAX_STOP_SECONDS = env.float("TANDEM_MAX_STOP_SECONDS", 300.0)
TANDEM_REQUESTS_PER_MINUTE = env.int("TANDEM_REQUESTS_PER_MINUTE", 1200)
TANDEM_WEBHOOK_HOSTS = env.list("TANDEM_WEBHOOK_HOSTS", default=[])
"""Hosts that webhooks may post to though they are private, or without TLS."""
TANDEM_SCORER_HOSTS = env.list("TANDEM_SCORER_HOSTS", default=[])
"""Hosts that remote scorers may be at though they are private, or without TLS."""
TANDEM_MIRROR_HOSTS = env.list("TANDEM_MIRROR_HOSTS", default=[])
"""Hosts that mirrors may write to though they are private, or without TLS."""
RAY_HEAD = env.str("TANDEM_RAY_HEAD", "")
"""`HOST:PORT` by which nodes join the embedded Ray head; `up` sets it. Of any other cluster the node agent tells."""
RAY_ADDRESS = env.str("RAY_ADDRESS", "") or "http://127.0.0.1:8265"

# --- Django -----------------------------------------------------------------------------------------------------------

SECRET_KEY = environment.secret_key()
DEBUG = env.bool("DEBUG", False)
ALLOWED_HOSTS = environment.allowed_hosts()
CSRF_TRUSTED_ORIGINS = environment.trusted_origins()

LOCAL_APPS = [
    "live",
    "audit",
    "accounts",
    "catalog",
    "hooks",
    "fleet",
    "runs",
    "telemetry",
    "gallery",
    "sweeps",
    "mirrors",
    "retention",
    "operations",
    "analysis",
    "api",
    "dashboard",
]
INSTALLED_APPS = [
    "server.apps.ServerConfig",
    "accounts.admin_config.TandemAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "django_filters",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    *SIGN_IN_APPS,
    *LOCAL_APPS,
]
APPS_WITH_TABLES = [
    "audit",
    "accounts",
    "catalog",
    "hooks",
    "fleet",
    "runs",
    "telemetry",
    "gallery",
    "mirrors",
    "retention",
    "api",
]
# knox's own migrations would create its table, which `accounts.ApiToken` replaces.
MIGRATION_MODULES: dict[str, str | None] = {app: f"migrations.{app}" for app in APPS_WITH_TABLES} | {"knox": None}
MIDDLEWARE = [
    "audit.middleware.RequestIdMiddleware",
    *(["server.traced_requests.TracedRequestsMiddleware"] if TANDEM_TRACES else []),
    "server.request_times.RequestTimesMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "server.middleware.StaticFilesMiddleware",
    "server.middleware.ContentSecurityPolicyMiddleware",
    "server.away_middleware.DatabaseAwayMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "server.second_factor_middleware.SecondFactorMiddleware",
    "server.middleware.ApiProblemsMiddleware",
    "server.middleware.FrameOptionsMiddleware",
]
ROOT_URLCONF = "server.urls"
ASGI_APPLICATION = "server.asgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

# --- E-mail -----------------------------------------------------------------------------------------------------------

TANDEM_SENDS_EMAIL = bool(env.str("EMAIL_URL", ""))
# `EMAIL_BACKEND`, `EMAIL_HOST` and the like, from one URL.
globals().update(env.email_url("EMAIL_URL", default="dummymail://"))
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", "tandem@localhost")

# --- Servers ----------------------------------------------------------------------------------------------------------

REDIS_URL = environment.redis_url()
DATABASES: dict[str, dict[str, Any]] = {
    "default": {**env.db_url_config(environment.database_url()), "ATOMIC_REQUESTS": False}
}
TANDEM_WEB_CONNECTIONS = env.int("TANDEM_WEB_CONNECTIONS", 0)
TANDEM_TASK_CONNECTIONS = env.int("TANDEM_TASK_CONNECTIONS", 0)
if TANDEM_WEB_CONNECTIONS:
    DATABASES["default"]["ENGINE"] = "server.web_database"
if num_connections := TANDEM_WEB_CONNECTIONS or TANDEM_TASK_CONNECTIONS:
    # The web answers each request, and a Celery worker begins each task, as one that has no connection yet. Without a
    # pool each opens one, which takes longer than most answers and rounds, and a rush of requests takes all that the
    # database has.
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    DATABASES["default"].setdefault("OPTIONS", {})["pool"] = {
        "min_size": 1,
        "max_size": num_connections,
        # The longest wait for a connection while all are in use. While the database is away `api.database_circuit`
        # answers the web sooner, and the first request after its return connects at once.
        "timeout": 5.0,
        "reconnect_timeout": 2.0,
    }
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "tandem",
    }
}
CHANNEL_LAYERS = {
    "default": {
        # The core layer silently lost messages under load; pub/sub delivers at most once, as `stream_seq` allows.
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": "tandem"},
    }
}
CELERY_BROKER_URL = environment.celery_broker_url(REDIS_URL)

# --- Accounts and security --------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        # Django's 0.7 lets a name written twice pass, whose similarity is 2/3.
        "OPTIONS": {"max_similarity": 0.6},
    },
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"

SILENCED_SYSTEM_CHECKS = [
    # It looks for Django's own class: `FrameOptionsMiddleware` extends it, and a test reads the header.
    "security.W002",
    # TLS ends at the proxy, which is what redirects; the web itself listens on this machine unless told otherwise.
    "security.W008",
    # What the other hosts of the domain serve, and whether browsers list it, is their owner's decision.
    "security.W005",
    "security.W021",
]
IS_HTTPS = TANDEM_PUBLIC_URL.startswith("https://")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if IS_HTTPS else None
SESSION_COOKIE_SECURE = IS_HTTPS
CSRF_COOKIE_SECURE = IS_HTTPS
# Cookies ignore ports: under one name, two stacks on one machine would log each other out.
SESSION_COOKIE_NAME = f"tandem-session-{TANDEM_PORT}"
SECURE_HSTS_SECONDS = 31_536_000 if IS_HTTPS else 0
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 32 * 2**20
"""Of a body: 100,000 prompts of 300 characters. A larger one is refused before it is parsed."""
CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'self'",
        "img-src 'self' data: blob:",
        "style-src 'self' 'unsafe-inline'",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)

# --- REST -------------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "api.token_scopes.TokenMay",
        "api.query_parameters.KnownParameters",
        "api.chosen_fields.ChosenFields",
        "api.idempotent_posts.IdempotentPosts",
        "api.entity_tags.EntityTags",
    ],
    "DEFAULT_THROTTLE_CLASSES": ["api.rate_limits.TokenRateLimit"],
    "DEFAULT_RENDERER_CLASSES": ["api.chosen_fields.FieldsRenderer"],
    "DEFAULT_PARSER_CLASSES": ["api.json_body.PlainJSONParser"],
    # The schema describes every address; DRF's own description fails for views without one serializer.
    "DEFAULT_METADATA_CLASS": None,
    # `format` would choose a renderer; there is only one.
    "URL_FORMAT_OVERRIDE": None,
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "api.contract_schema.AutoSchema",
    "EXCEPTION_HANDLER": "api.problems.exception_handler",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
KNOX_TOKEN_MODEL = "accounts.ApiToken"
REST_KNOX = {"TOKEN_TTL": timedelta(days=90), "AUTH_HEADER_PREFIX": "Bearer", "MIN_REFRESH_INTERVAL": 3600}
SPECTACULAR_SETTINGS = {
    "TITLE": "Tandem",
    "DESCRIPTION": "Reinforcement learning for image and video diffusion models on a shared pool of GPUs.",
    "VERSION": "1",
    # OpenAPI 3.1 is the first version whose schemas are JSON Schema, as those of the contracts are.
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    # With deep links each operation's button holds a link, which keys and screen readers cannot reach in it.
    "SWAGGER_UI_SETTINGS": {"deepLinking": False},
    "REDOC_DIST": "SIDECAR",
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enums", "api.contract_schema.add_contracts"],
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    # Names of the choices that several bodies share.
    "ENUM_NAME_OVERRIDES": {
        "ActionKind": "api.serializers.runs.ACTION_KINDS",
        "AlternativeChange": "api.serializers.queue.CHANGES",
        "CommandKind": "api.serializers.runs.COMMAND_KINDS",
        "ForecastBasis": "api.serializers.queue.BASES",
        "DeliveryState": "hooks.models.DeliveryState.choices",
        "GpuTestState": "fleet.models.GpuTestState.choices",
        "HookEvent": "hooks.hook_events.HookEvent.choices",
        "ImportKind": "catalog.imports.import_kinds.IMPORT_KINDS",
        "LaneActionKind": "api.serializers.pool.LANE_ACTION_KINDS",
        "LaneKind": "api.serializers.pool.LANE_KINDS",
        "LaneRole": "api.serializers.runs.LANE_ROLES",
        "LogLevel": "telemetry.log.run_log_reads.LEVELS",
        "MirrorKind": "catalog.models.MirrorKind.choices",
        "MirroringState": "mirrors.models.MirroringState.choices",
        "MessageForm": "hooks.models.MessageForm.choices",
        "PoolActionKind": "api.serializers.pool.POOL_ACTION_KINDS",
        "PoolState": "api.serializers.pool.STATES",
        "PreviewState": "gallery.models.PreviewState.choices",
        "ProjectRole": "accounts.models.ProjectRole.choices",
        "QueueBlockerKind": "api.serializers.queue.BLOCKER_KINDS",
        "QueueDirection": "api.serializers.queue.DIRECTIONS",
        "RetentionKind": "api.serializers.deletions.KINDS_OF_DATA",
        "RunState": "runs.models.STATE_VALUES",
        "SamplePurpose": "api.serializers.gallery.PURPOSES",
        "StartCheckName": "api.serializers.runs.CHECK_NAMES",
        "StartCheckState": "api.serializers.runs.CHECK_STATES",
        "SweepState": "runs.models.SweepState.choices",
        "TokenScope": "accounts.models.TokenScope.choices",
    },
}

# --- Static files and logs --------------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = TANDEM_VAR / "static"
STATICFILES_DIRS = [folder for folder in [ROOT / "frontend" / "dist"] if folder.is_dir()]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
_IDS = "%(request_id)s trace_id=%(trace_id)s" if TANDEM_TRACES else "%(request_id)s"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": f"%(asctime)s %(levelname)-7s {_IDS} %(name)s: %(message)s"}},
    "filters": {
        "request_id": {"()": "audit.request_context.RequestIdFilter"},
        "links": {"()": "server.link_log_filter.LinkLogFilter"},
    },
    "handlers": {
        "stdout": {
            "class": "logging.StreamHandler",
            "stream": "ext://sys.stdout",
            "formatter": "line",
            "filters": ["request_id"],
        }
    },
    "root": {"handlers": ["stdout"], "level": env.str("TANDEM_LOG_LEVEL", "INFO")},
    "loggers": {
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.request": {"filters": ["links"]},
        "django.server": {"handlers": [], "level": "INFO", "propagate": True},
        "httpx": {"level": "WARNING"},
        # The beat logs several lines every two seconds, which would hide everything else.
        "celery.beat": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
    },
}
