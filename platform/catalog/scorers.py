"""What the rewards of a spec require from this installation: weights below the model roots, hosts that remote scorers
may be at, and project secrets.

Invariant: a secret leaves the platform only in a bootstrap answer, for a reward that names it and whose URL is on the
secret's host. So whoever may start runs can use a secret but cannot send it elsewhere.
"""

from urllib.parse import urlsplit

from django.conf import settings

from accounts.encryption import CannotDecrypt, decrypt
from accounts.models import Project
from catalog.base_models import ModelNotUsable, resolve_weights
from catalog.models import Secret
from worker.contracts.rewards import RemoteSettings, RewardSpec
from worker.contracts.run_spec import RunSpec
from worker.contracts.scorer_access import SCORER_HOSTS_SETTING, ScorerAccess
from worker.outbound.outbound_guard import url_problem

WEIGHTS = ("weights", "processor")
"""Settings that name a folder or a hub id."""


def scorer_problems(spec: RunSpec, project: Project | None) -> dict[str, str]:
    """Requirements of the spec's rewards that this installation cannot meet, by field. Without `project`, secrets are
    not looked up."""
    problems: dict[str, str] = {}
    for place, reward in enumerate(spec.rewards):
        for field, value in named_weights(reward).items():
            path = f"rewards.{place}.settings.{field}"
            try:
                resolve_weights(value)
            except ModelNotUsable as error:
                problems[path] = f"`{path}` `{value}` {error}"
        if not isinstance(reward.settings, RemoteSettings):
            continue
        hosts = settings.TANDEM_SCORER_HOSTS
        if problem := url_problem(reward.settings.url, allowed_hosts=hosts, setting=SCORER_HOSTS_SETTING):
            path = f"rewards.{place}.settings.url"
            problems[path] = f"`{path}` {problem}"
        if project is not None:
            try:
                _token(project, reward.settings)
            except LookupError as error:
                path = f"rewards.{place}.settings.secret"
                problems[path] = f"`{path}` {error}"
    return problems


def with_resolved_weights(spec: RunSpec) -> RunSpec:
    """The spec as the engine gets it, with names below the model roots as absolute folders. Raises `ModelNotUsable`."""
    rewards = []
    for reward in spec.rewards:
        found = {field: resolve_weights(value) for field, value in named_weights(reward).items()}
        resolved = reward.settings.model_copy(update=found) if reward.settings is not None else None
        rewards.append(reward.model_copy(update={"settings": resolved}))
    return spec.model_copy(update={"rewards": tuple(rewards)})


def scorer_access(spec: RunSpec, project: Project) -> ScorerAccess:
    """The tokens of the spec's rewards, and the hosts that an administrator allows. A token that may not be sent, or
    cannot be read, is left out."""
    tokens: dict[str, str] = {}
    for reward in spec.rewards:
        if isinstance(reward.settings, RemoteSettings) and reward.settings.secret is not None:
            try:
                tokens[reward.settings.secret] = _token(project, reward.settings)
            except LookupError:
                continue  # the reward lane says what is missing, as the run's reason
    return ScorerAccess(tokens=tokens, hosts=tuple(settings.TANDEM_SCORER_HOSTS))


def _token(project: Project, remote: RemoteSettings) -> str:
    """Raises `LookupError` with the end of a sentence; an unnamed secret is an empty token."""
    if remote.secret is None:
        return ""
    own = Secret.objects.filter(project=project)
    secret = own.filter(name=remote.secret).first()
    if secret is None:
        names = ", ".join(f"`{item.name}`" for item in own) or "none yet"
        raise LookupError(f"must name a secret of {project.name}, got `{remote.secret}`: there is {names}")
    host = urlsplit(remote.url).netloc
    if host.lower() != secret.host.lower():
        raise LookupError(f"`{secret.name}` may be sent to `{secret.host}` alone, got `{host}` in `url`")
    try:
        return decrypt(secret.encrypted)
    except CannotDecrypt as error:
        raise LookupError(f"`{secret.name}` cannot be read: {error}") from error


def named_weights(reward: RewardSpec) -> dict[str, str]:
    """The reward's settings that name weights, as given: folders or hub ids."""
    return {field: getattr(reward.settings, field) for field in WEIGHTS if hasattr(reward.settings, field)}
