"""One of everything that an address can name, in alice's project, and everybody who may ask for it."""

import gzip
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.test import Client
from django.utils import timezone

from accounts.api_tokens import TokenWish, create_token
from accounts.models import ApiToken, Membership, Project, ProjectRole, TokenScope, User
from accounts.secrets import hash_secret
from accounts.service_accounts import create_service_account
from catalog.models import Mirror, PromptSet
from catalog.services import create_secret
from fleet.lane_layout import ensure_local_lanes
from fleet.models import BudgetPeriod, BudgetUnit, Gpu, GpuTest, Lane, Node, ProjectBudget
from gallery.models import Adapter, Artifact, Preview, PreviewImage
from hooks.models import Delivery, Webhook
from mirrors.models import MirroredRun
from runs.models import Attempt, Run, RunStream, SavedView
from runs.planning.cost_history import workload_of
from sweeps.services import create_sweep
from telemetry.models import SpanRow
from tests.web.conftest import small_spec
from tests.web.contract import CheckedClient
from tests.web.sweeps.swept_runs import plan
from worker.contracts.prompts import dump_prompts

RUN_TOKEN, ENDED_RUN_TOKEN = "token-of-the-run", "token-of-the-attempt-before"
SHA256 = "0" * 64
NAME = re.compile(r"<\w+:(\w+)>")


@dataclass(frozen=True, slots=True)
class World:
    """What the placeholders of addresses stand for, and a client for each actor."""

    values: Mapping[str, str]
    """By placeholder; one that stands for different things, as `pk`, by `<first part of the address>.pk`."""
    users: Mapping[str, User]
    """Who comes with a session, by actor."""
    sessions: Mapping[str, str]
    """The keys of these sessions, by actor."""
    tokens: Mapping[str, str]
    """Who comes with a token, by actor."""

    def address(self, pattern: str, actor: str) -> str:
        """The address with every placeholder filled. The driver of the attempt that has ended asks for its own."""
        kind = pattern.removeprefix("api/v1/").removeprefix("api/ingest/v1/").partition("/")[0]
        mine = {"attempt": "1"} if actor == "ended run's token" else {}
        return "/" + NAME.sub(lambda match: mine.get(match[1]) or self._value(kind, match[1]), pattern)

    def filled(self, body: Any) -> Any:
        """The body with every placeholder filled."""
        return json.loads(NAME.sub(lambda match: self._value("", match[1]), json.dumps(body)))

    def named(self, path: str, placeholder: str) -> str | None:
        """What a placeholder of a path of the schema stands for, where `id` is what Django's routes call `pk`."""
        kind = path.removeprefix("/api/v1/").partition("/")[0]
        name = "pk" if placeholder == "id" else placeholder
        return self.values.get(f"{kind}.{name}") or self.values.get(name)

    def _value(self, kind: str, name: str) -> str:
        return self.values[f"{kind}.{name}"] if f"{kind}.{name}" in self.values else self.values[name]

    def client(self, actor: str) -> Client:
        """A new client of the actor. Anonymous is who has neither session nor token."""
        if actor in self.tokens:
            return CheckedClient(headers={"Authorization": f"Bearer {self.tokens[actor]}"})
        client = CheckedClient()
        if actor in self.sessions:
            client.cookies[settings.SESSION_COOKIE_NAME] = self.sessions[actor]
        return client


def build_world(artifacts: Path) -> World:
    """The world, in the database and in the folder of artifacts."""
    users = {
        "outsider": _user("outsider"),
        "viewer": _user("viewer"),
        "editor": _user("editor"),
        "owner": _user("owner"),
        "pool admin": _user("pool-admin", is_pool_admin=True),
        "administrator": _user("administrator", is_superuser=True, is_staff=True),
    }
    project, other = (Project.objects.create(name=name, slug=name) for name in ("mine", "other"))
    for role in ProjectRole:
        Membership.objects.create(project=project, user=users[role.value], role=role)
    Membership.objects.create(project=other, user=users["owner"], role=ProjectRole.OWNER)
    run = _run(project)
    values = {
        "project_id": str(project.pk),
        "projects.pk": str(project.pk),
        "runs.pk": str(run.pk),
        "run_id": str(run.pk),
        "user_id": str(users["viewer"].pk),
        "users.pk": str(users["viewer"].pk),
        "attempt": "2",
        "provider_id": "oidc",
        "code": "of-no-link",
        # Nobody here has a security key.
        "key_id": "0",
        **dict.fromkeys(("batch", "group", "fragment"), "0"),
        **_of_project(project, users["owner"]),
        **_of_run(run, users["owner"], artifacts),
        **_of_pool(),
    }
    sessions = {actor: _session(user) for actor, user in users.items()}
    return World(values=values, users=users, sessions=sessions, tokens=_tokens(users["owner"], other))


def _session(user: User) -> str:
    """The key of a new session, as after logging in."""
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def _user(name: str, **fields: Any) -> User:
    return User.objects.create_user(name, password="correct horse", **fields)


def _tokens(owner: User, other: Project) -> dict[str, str]:
    """The owner's, of which one may only read, one has ended, one was revoked, one is of another project; and those by
    which drivers of the run send."""

    def made(**limits: Any) -> tuple[ApiToken, str]:
        return create_token(user=owner, wish=TokenWish(**limits))

    revoked, revoked_token = made()
    revoked.delete()
    expired, expired_token = made()
    ApiToken.objects.filter(pk=expired.pk).update(expiry=timezone.now() - timedelta(seconds=1))
    return {
        "token that reads": made(scopes=frozenset({TokenScope.READ}))[1],
        "expired token": expired_token,
        "revoked token": revoked_token,
        "token of another project": made(projects=frozenset({other.pk}))[1],
        "run's token": RUN_TOKEN,
        "ended run's token": ENDED_RUN_TOKEN,
    }


def _run(project: Project) -> Run:
    """A running run in its second attempt, of which one fragment was generated."""
    spec = small_spec()
    run = Run.objects.create(
        project=project,
        name="run",
        state="running",
        attempt=2,
        spec=spec.model_dump(mode="json"),
        algebra=spec.algebra.model_dump(mode="json"),
        num_batches=spec.num_batches,
        max_attempts=spec.max_attempts,
        prompts=dump_prompts(spec.prompts.inline),
        workload=workload_of(spec),
    )
    RunStream.objects.create(run=run)
    now = timezone.now()
    started = {"submitted_at": now, "bootstrap_used_at": now}
    Attempt.objects.create(
        run=run, number=1, token_hash=hash_secret(ENDED_RUN_TOKEN), ended_at=now, outcome="lost", **started
    )
    Attempt.objects.create(run=run, number=2, token_hash=hash_secret(RUN_TOKEN), **started)
    SpanRow.objects.create(
        **{"run": run, "stream_seq": 1, "attempt": 2, "lane": "rollout-0", "kind": "generate", "start": 0, "end": 1},
        **{"batch": 0, "group": 0, "fragment": 0, "num_samples": 1},
    )
    return run


def _of_project(project: Project, owner: User) -> dict[str, str]:
    prompts = PromptSet.objects.create(project=project, name="prompts", prompts=["a", "b"], created_by=owner)
    secret = create_secret(user=owner, project=project, name="key", host="scorer.example", value="secret")
    mirror = Mirror.objects.create(project=project, name="mirror", kind="tensorboard", place="shapes")
    view = SavedView.objects.create(user=owner, project=project, name="view")
    hook = Webhook.objects.create(
        **{"project": project, "name": "hook", "address": "https://hook.example/", "events": ["run.failed"]},
        **{"encrypted": "", "created_by": owner},
    )
    ProjectBudget.objects.create(
        project=project, amount=100, unit=BudgetUnit.GPU_HOURS, period=BudgetPeriod.MONTH, since=timezone.now()
    )
    delivery = Delivery.objects.create(webhook=hook, event="run.failed", payload={}, tries_left=0)
    sweep = create_sweep(user=owner, project=project, document=plan())
    token, _ = create_token(user=owner, wish=TokenWish(name="to be revoked"))
    script = create_service_account(user=owner, project=project, name="script", role=ProjectRole.VIEWER)
    of_script, _ = create_token(user=owner, wish=TokenWish(), account=script)
    return {
        "prompt-sets.pk": str(prompts.pk),
        "mirrors.pk": str(mirror.pk),
        "mirror_id": str(mirror.pk),
        "secrets.pk": str(secret.pk),
        "view_id": str(view.pk),
        "webhooks.pk": str(hook.pk),
        "webhook_id": str(hook.pk),
        "delivery_id": str(delivery.pk),
        "sweeps.pk": str(sweep.pk),
        "sweep_id": str(sweep.pk),
        "tokens.pk": token.token_key,
        "service-accounts.pk": str(script.pk),
        "account_id": str(script.pk),
        "token_id": of_script.token_key,
    }


def _of_run(run: Run, owner: User, artifacts: Path) -> dict[str, str]:
    """A sample, a version, a preview and the schedule log, all of the same bytes."""
    MirroredRun.objects.create(run=run, mirror=Mirror.objects.get(project=run.project), label="run")
    stored = gzip.compress(b"")
    for path in ("samples/a.png", "versions/1/lora.safetensors", "schedule/0.jsonl.gz", "previews/lora-0-0.png"):
        (artifacts / path).parent.mkdir(parents=True, exist_ok=True)
        (artifacts / path).write_bytes(stored)
        Artifact.objects.create(
            **{"run": run, "attempt": 2, "path": path, "storage_key": path, "content_type": "image/png"},
            **{"sha256": SHA256, "num_bytes": len(stored)},
        )
    adapter = Adapter.objects.create(
        **{"run": run, "stream_seq": 2, "attempt": 2, "batch": 0, "policy_version": 1, "at": 0.0},
        **{"artifact_path": "versions/1/lora.safetensors", "sha256": SHA256, "num_bytes": len(stored)},
        files=[{"path": "lora.safetensors", "sha256": SHA256, "num_bytes": len(stored)}],
    )
    preview = Preview.objects.create(
        run=run, adapter=adapter, prompts=["a"], num_samples=1, seed=0, created_by=owner, deadline=timezone.now()
    )
    PreviewImage.objects.create(
        **{"preview": preview, "with_adapter": True, "prompt_index": 0, "index": 0, "seed": 0},
        **{"num_bytes": len(stored), "storage_key": "previews/lora-0-0.png"},
    )
    return {
        "adapter_id": str(adapter.pk),
        "preview_id": str(preview.pk),
        "operation_id": f"preview-{preview.pk}",
        "name": "lora-0-0.png",
        "path": "samples/a.png",
    }


def _of_pool() -> dict[str, str]:
    ensure_local_lanes(num_cpu_lanes=1)
    node, lane = Node.objects.get(), Lane.objects.get()
    gpu = Gpu.objects.create(node=node, index=0, uuid="GPU-1", accelerator="H100")
    test = GpuTest.objects.create(gpu=gpu, requested_by="pool-admin")
    return {
        "node_id": str(node.pk),
        "lane_id": str(lane.pk),
        "gpu_id": str(gpu.pk),
        "test_id": str(test.pk),
        "pools.name": "default",
        "rewards.name": "ocr",
    }
