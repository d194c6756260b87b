"""Who gets what: a level for every request, and what each actor is answered at each level.

`in` is any answer of a request that was let in: what it then finds wrong with its body, or with the run's state, is
tested elsewhere. `login` is a redirect to the login page.
"""

from typing import Any

ACTORS = (
    "anonymous",
    "outsider",
    "viewer",
    "editor",
    "owner",
    "pool admin",
    "administrator",
    "token that reads",
    "expired token",
    "revoked token",
    "token of another project",
    "run's token",
    "ended run's token",
)
"""Tokens but for the runs' are the owner's. Pool admin and administrator are members of no project."""

# In the order of `ACTORS`: who has no account | who comes with a session | the owner's tokens | the runs' tokens.
LEVELS: dict[str, str] = {
    "anybody": "in | in in in in in in | in in in in | in in",
    "anybody, but with no bad token": "in | in in in in in in | in 401 401 in | 401 401",
    "whoever has an account": "401 | in in in in in in | in 401 401 in | 401 401",
    "whoever has an account, to write": "401 | in in in in in in | 403 401 401 in | 401 401",
    "whoever has an account, for all projects": "401 | in in in in in in | 403 401 401 403 | 401 401",
    "members": "401 | 404 in in in 404 404 | in 401 401 404 | 401 401",
    "members and pool admins": "401 | 404 in in in in in | in 401 401 404 | 401 401",
    "the member and owners": "401 | 404 in 403 in 404 404 | 403 401 401 404 | 401 401",
    "editors": "401 | 404 403 in in 404 404 | 403 401 401 404 | 401 401",
    "owners": "401 | 404 403 403 in 404 404 | 403 401 401 404 | 401 401",
    "owners, unknown to others": "401 | 404 404 404 in 404 404 | 404 401 401 404 | 401 401",
    "owners, unknown to others, to write": "401 | 404 404 404 in 404 404 | 403 401 401 404 | 401 401",
    "owners and administrators, unknown to others": "401 | 404 404 404 in 404 in | 404 401 401 404 | 401 401",
    "owners and administrators, unknown to others, to write": "401 | 404 404 404 in 404 in | 403 401 401 404 | 401 401",
    "their own": "401 | 404 404 404 in 404 404 | 403 401 401 in | 401 401",
    "pool admins": "401 | 403 403 403 403 in in | 403 401 401 403 | 401 401",
    "pool admins, unknown to outsiders": "401 | 404 403 403 403 in in | 403 401 401 404 | 401 401",
    "administrators": "401 | 403 403 403 403 403 in | 403 401 401 403 | 401 401",
    "drivers of the run": "401 | 401 401 401 401 401 401 | 401 401 401 401 | in 410",
    "jobs and agents with tokens of their own": "401 | 401 401 401 401 401 401 | 401 401 401 401 | 401 401",
    "page": "login | in in in in in in | login login login login | login login",
    "page of members": "login | 404 in in in 404 404 | login login login login | login login",
    "page of pool admins": "login | 403 403 403 403 in in | login login login login | login login",
    "page of staff": "login | login login login login in in | login login login login | login login",
    "page of what they have not": "login | 404 404 404 404 404 404 | login login login login | login login",
    "page that there is not": "404 | 404 404 404 404 404 404 | 404 404 404 404 | 404 404",
    "page that refuses all": "403 | 403 403 403 403 403 403 | 403 403 403 403 | 403 403",
    "page that there is not, after the password": "login | in in in in in in | login login login login | login login",
    "the way out": "login | login login login login login login | login login login login | login login",
    "page for who is not logged in": "in | in in in in in in | in in in in | in in",
    "page for who has a passkey": "403 | in in in in in in | 403 403 403 403 | 403 403",
}


def expected(level: str) -> dict[str, str]:
    """The answer to each actor."""
    return dict(zip(ACTORS, LEVELS[level].replace("|", "").split(), strict=True))


API, INGEST = "api/v1/", "api/ingest/v1/"
OF_ATTEMPT = INGEST + "runs/<uuid:run_id>/attempts/<int:attempt>/"
BY_LEVEL: dict[str, tuple[str, ...]] = {
    "anybody": (
        f"get {API}health/live",
        f"get {API}health/ready",
        f"get {API}asyncapi",
        f"get {API}schema",
        # Their single-use codes are in the body.
        f"post {INGEST}bootstrap",
        f"post {INGEST}gpu-tests/bootstrap",
        f"post {INGEST}nodes/bootstrap",
        f"post {INGEST}previews/bootstrap",
    ),
    "anybody, but with no bad token": (f"get {API}docs",),
    # Lists hold what the actor may see, which the tests of each list show.
    "whoever has an account": (
        *(f"get {API}{name}" for name in ("audit", "base-models", "budgets", "home", "me", "metrics", "presets")),
        *(f"get {API}{name}" for name in ("projects", "prompt-sets", "run-spec-schema", "run-views", "runs")),
        *(f"get {API}{name}" for name in ("runs:table", "runs:sparklines", "secrets", "tokens", "webhooks")),
        f"get {API}service-accounts",
        f"get {API}mirrors",
        f"get {API}operations",
        f"get {API}rewards",
        f"get {API}rewards/<str:name>",
        *(f"get {API}{name}" for name in ("gpus", "lanes", "lends", "lends/sums", "nodes", "occupancy", "pool")),
        *(f"get {API}{name}" for name in ("pool-policy", "pools", "queue", "queue/running", "shares")),
        *(f"get {API}{name}" for name in ("sweeps", "usage", "usage.csv", "usage/days")),
        *(f"get {API}gpus/<int:gpu_id>{part}" for part in ("", "/health", "/history", "/minutes", "/tests", "/uses")),
        f"get {API}lanes/<int:lane_id>/history",
        f"get {API}nodes/<int:node_id>",
        f"get {API}nodes/<int:node_id>/history",
        f"get {API}pools/<str:name>",
        *(f"post {API}{name}" for name in ("plans", "runs:import", "runs:preflight", "runs:validate")),
    ),
    # `runs:bulk` refuses each run by itself.
    "whoever has an account, to write": (f"post {API}tokens", f"post {API}run-views", f"post {API}runs:bulk"),
    "whoever has an account, for all projects": (f"post {API}projects",),
    "members": (
        f"get {API}mirrors/<uuid:pk>",
        # That of a preview.
        f"get {API}operations/<str:operation_id>",
        f"get {API}projects/<uuid:pk>",
        f"get {API}projects/<uuid:project_id>/members",
        f"get {API}prompt-sets/<uuid:pk>",
        f"get {API}runs/<uuid:pk>",
        f"get {API}sweeps/<uuid:pk>",
        f"post {API}sweeps:preview",
        *(
            f"get {API}runs/<uuid:run_id>/{part}"
            for part in (
                *("adapters", "adapters/<int:adapter_id>/archive", "alternatives", "artifacts/<path:path>", "attempts"),
                *("bubbles", "checkpoints", "commands", "events", "lane-states", "lending", "lineage", "logs"),
                "lane-seconds",
                *("fragments/<int:batch>/<int:group>/<int:fragment>", "logs/errors", "logs/text", "metrics", "mirrors"),
                *(
                    "plan",
                    "planned-time",
                    "previews",
                    "previews/<uuid:preview_id>/images/<str:name>",
                    "prompts",
                    "report",
                ),
                *("samples", "schedule", "size", "staleness", "stream", "timeline", "trace", "transitions"),
            )
        ),
        f"post {API}runs/<uuid:run_id>/replays",
    ),
    "members and pool admins": (f"get {API}shares/<uuid:project_id>", f"get {API}budgets/<uuid:project_id>"),
    "the member and owners": (f"delete {API}projects/<uuid:project_id>/members/<int:user_id>",),
    "editors": (
        f"delete {API}prompt-sets/<uuid:pk>",
        f"post {API}prompt-sets",
        f"delete {API}runs/<uuid:pk>",
        f"patch {API}runs/<uuid:pk>",
        f"post {API}runs",
        f"post {API}sweeps",
        f"delete {API}sweeps/<uuid:pk>",
        f"post {API}sweeps/<uuid:sweep_id>/stop",
        *(f"post {API}runs/<uuid:run_id>/{part}" for part in ("actions", "duplicate", "previews", "resize")),
        f"post {API}runs/<uuid:run_id>/alternatives",
        f"post {API}runs/<uuid:run_id>/mirrors",
        f"post {API}operations/<str:operation_id>/cancel",
    ),
    "owners": (
        f"patch {API}projects/<uuid:pk>",
        f"post {API}projects/<uuid:project_id>/members",
        f"patch {API}projects/<uuid:project_id>/members/<int:user_id>",
        f"post {API}mirrors",
        f"patch {API}mirrors/<uuid:pk>",
        f"delete {API}mirrors/<uuid:pk>",
        f"post {API}mirrors/<uuid:mirror_id>/try-again",
        f"post {API}secrets",
        f"delete {API}secrets/<uuid:pk>",
        f"delete {API}run-views/<uuid:view_id>",
        f"post {API}webhooks",
        f"post {API}service-accounts",
    ),
    "owners and administrators, unknown to others": (
        f"get {API}service-accounts/<int:pk>",
        f"get {API}service-accounts/<int:account_id>/tokens",
    ),
    "owners and administrators, unknown to others, to write": (f"patch {API}service-accounts/<int:pk>",),
    "owners, unknown to others": (
        f"get {API}webhooks/<uuid:pk>",
        f"get {API}webhooks/<uuid:webhook_id>/deliveries",
        f"get {API}webhooks/<uuid:webhook_id>/deliveries/<uuid:delivery_id>",
    ),
    "owners, unknown to others, to write": (
        # Administrators too: a token of theirs would open the project.
        f"post {API}service-accounts/<int:account_id>/tokens",
        f"delete {API}service-accounts/<int:account_id>/tokens/<str:token_id>",
        f"delete {API}webhooks/<uuid:pk>",
        f"patch {API}webhooks/<uuid:pk>",
        f"post {API}webhooks/<uuid:webhook_id>/rotate-secret",
        f"post {API}webhooks/<uuid:webhook_id>/test",
        f"post {API}webhooks/<uuid:webhook_id>/deliveries/<uuid:delivery_id>/redeliver",
    ),
    "their own": (f"delete {API}tokens/<str:pk>",),
    "pool admins": (
        f"put {API}budgets/<uuid:project_id>",
        f"delete {API}budgets/<uuid:project_id>",
        *(f"post {API}gpus/<int:gpu_id>/{part}" for part in ("actions", "tests")),
        f"post {API}gpus:test",
        f"patch {API}gpus/<int:gpu_id>",
        f"post {API}lanes/<int:lane_id>/actions",
        f"post {API}nodes/<int:node_id>/actions",
        f"patch {API}nodes/<int:node_id>",
        f"delete {API}nodes/<int:node_id>",
        f"post {API}pool/actions",
        f"put {API}pool-policy",
        f"post {API}pools",
        f"post {API}pools:preview",
        f"patch {API}pools/<str:name>",
        f"delete {API}pools/<str:name>",
        f"post {API}queue:preview",
        f"get {API}retention",
        f"post {API}retention:preview",
        f"post {API}retention:delete",
        f"put {API}shares/<uuid:project_id>",
    ),
    "pool admins, unknown to outsiders": (
        f"post {API}runs/<uuid:run_id>/queue-place",
        f"delete {API}runs/<uuid:run_id>/queue-place",
    ),
    "administrators": (
        f"get {API}users",
        f"patch {API}users/<int:pk>",
        f"delete {API}users/<int:user_id>/second-factor",
    ),
    "drivers of the run": (
        f"get {OF_ATTEMPT}prompts",
        f"post {OF_ATTEMPT}events",
        f"post {OF_ATTEMPT}artifacts",
        f"put {OF_ATTEMPT}artifacts/<path:path>",
    ),
    "jobs and agents with tokens of their own": (
        f"post {INGEST}gpu-tests/<uuid:test_id>/report",
        f"post {INGEST}nodes/reports",
        f"post {INGEST}previews/<uuid:preview_id>/done",
        f"get {INGEST}previews/<uuid:preview_id>/files/<path:path>",
        f"put {INGEST}previews/<uuid:preview_id>/images/<str:name>",
    ),
    "page": (
        *(f"get {page}" for page in ("", "account", "audit", "compare", "lending", "pool", "pool/gpus/<int:gpu_id>")),
        *(f"get {page}" for page in ("pool/occupancy", "projects", "prompt-sets", "queue", "runs", "runs/new")),
        *(f"get {page}" for page in ("sweeps", "sweeps/new", "usage")),
        *(
            f"{method} account/{page}"
            for method in ("get", "post", "put")
            for page in (
                *("confirm/code", "confirm/key", "confirm/password", "password", "recovery-codes/new"),
                *("second-factor", "security-keys/add"),
            )
        ),
        *(f"{method} account/security-keys/<int:key_id>/remove" for method in ("get", "post")),
        # After the password; who is logged in is past it.
        *(f"{method} login/second-factor" for method in ("get", "post")),
    ),
    # Nobody here has a second factor.
    "page of what they have not": (
        "get account/recovery-codes",
        *(f"{method} account/second-factor/remove" for method in ("get", "post", "put")),
    ),
    # This installation has no provider of OpenID Connect.
    "page that there is not": tuple(f"get login/<slug:provider_id>/{end}" for end in ("begin", "callback")),
    "page that there is not, after the password": tuple(
        f"{method} account/providers/<slug:provider_id>/unlink" for method in ("get", "post")
    ),
    # A link that was never made, and the page of accounts that are switched off.
    "page that refuses all": ("get login/inactive", "get login/link/<str:code>", "post login/link/<str:code>"),
    "page of members": ("get runs/<uuid:run_id>", "get sweeps/<uuid:sweep_id>"),
    "page of pool admins": ("get retention",),
    "page of staff": ("get admin/",),
    "page for who is not logged in": (*(f"{method} login" for method in ("get", "post", "put")), "get login/passkey"),
    # What is posted there has no passkey's answer; who is logged in is past it.
    "page for who has a passkey": ("post login/passkey",),
    "the way out": ("post logout",),
}
LEVEL_OF = {request: level for level, requests in BY_LEVEL.items() for request in requests}

ACT = {"action": "cordon", "reason": "to see"}
BODIES: dict[str, dict[str, Any]] = {
    f"post {API}mirrors": {"project": "<uuid:project_id>", "name": "new", "kind": "tensorboard", "place": "new"},
    f"patch {API}projects/<uuid:pk>": {"name": "new"},
    f"post {API}projects": {"name": "new"},
    f"post {API}projects/<uuid:project_id>/members": {"username": "outsider", "role": "viewer"},
    f"patch {API}projects/<uuid:project_id>/members/<int:user_id>": {"role": "editor"},
    f"patch {API}runs/<uuid:pk>": {"notes": "new"},
    f"patch {API}users/<int:pk>": {"is_pool_admin": True},
    f"post {API}prompt-sets": {"project": "<uuid:project_id>", "name": "new", "prompts": ["a", "b"]},
    f"post {API}runs:bulk": {"ids": ["<uuid:run_id>"], "action": "pause"},
    f"post {API}runs": {"project": "<uuid:project_id>", "name": "new", "spec": {}},
    f"post {API}runs/<uuid:run_id>/actions": {"action": "pause"},
    f"post {API}runs/<uuid:run_id>/mirrors": {"mirror": "<uuid:mirror_id>"},
    f"post {API}runs/<uuid:run_id>/previews": {"prompts": ["a"]},
    f"post {API}runs/<uuid:run_id>/queue-place": {"direction": "front", "reason": "to see"},
    f"post {API}service-accounts": {"project": "<uuid:project_id>", "name": "new"},
    f"patch {API}service-accounts/<int:pk>": {"is_active": False},
    f"post {API}sweeps": {"project": "<uuid:project_id>", "sweep": {}},
    f"post {API}sweeps:preview": {"project": "<uuid:project_id>", "sweep": {}},
    f"post {API}secrets": {"project": "<uuid:project_id>", "name": "new", "host": "a.example", "value": "x"},
    f"post {API}webhooks": {
        **{"project": "<uuid:project_id>", "name": "new", "address": "https://a.example/"},
        "events": ["run.failed"],
    },
    f"put {API}budgets/<uuid:project_id>": {"amount": "100", "unit": "gpu_hours"},
    f"post {API}gpus/<int:gpu_id>/actions": ACT,
    f"post {API}gpus/<int:gpu_id>/tests": {"reason": "to see"},
    f"post {API}gpus:test": {"gpus": ["<int:gpu_id>"], "reason": "to see"},
    f"post {API}lanes/<int:lane_id>/actions": ACT,
    f"post {API}nodes/<int:node_id>/actions": ACT,
    f"post {API}pool/actions": {**ACT, "nodes": ["<int:node_id>"]},
    f"post {API}pools": {"name": "new", "match_labels": {"a": "b"}},
    f"post {API}queue:preview": {"shares": []},
}
"""Bodies without fault, where a view reads the body before it asks who sends it."""
