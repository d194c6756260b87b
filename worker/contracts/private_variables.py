"""Variables that the web's processes may have and no process of the cluster may: whoever runs a job can read the
environment of its node."""

PRIVATE_VARIABLES = frozenset(
    {
        *("DATABASE_URL", "PGPASSWORD", "REDIS_URL", "SECRET_KEY", "EMAIL_URL", "TANDEM_OIDC_PROVIDERS"),
        *("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"),
        *("WANDB_API_KEY", "MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN"),
        "DJANGO_SETTINGS_MODULE",
    }
)
"""Keys of the hub and of checkpoint stores are not among them: lanes load models and write checkpoints by them."""
