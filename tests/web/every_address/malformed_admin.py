"""Requests to Django's admin beyond its first page: lists with any query, records by any key, forms with any field."""

from random import Random
from typing import Any
from urllib.parse import quote, urlencode

from django.conf import settings
from django.contrib import admin
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.test import Client

from tests.web.every_address import malformed
from tests.web.every_address.malformed_request import Malformed
from tests.web.every_address.world import World

LOOKUPS = ("exact", "in", "gte", "isnull", "range", "regex", "year", "icontains", "nonsense", "exact__exact")
PARAMETERS = ("q", "p", "o", "all", "e", "_popup", "_to_field", "_changelist_filters", "_facets", "ot", "x")
WHOLE = ("", "jsi18n/", "password_change/", "password_change/done/", "autocomplete/", "login/", "nowhere/", "auth/")
TEXTS = ("1", "0", "-1", "9" * 400, "2026-01-02", "1.2.-3", "0,0,0", "False")
FORM = "application/x-www-form-urlencoded"
BUTTONS = ("_save", "_continue", "_addanother", "_saveasnew", "_popup", "index", "select_across")


class MalformedAdmin:
    """Draws requests of the administrator's session."""

    def __init__(self, world: World) -> None:
        client = Client()
        client.force_login(world.users["administrator"])
        self._cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
        self._models = sorted(admin.site._registry, key=lambda model: model._meta.label)
        self._keys = {model: self._key_of(model) for model in self._models}
        self._kinds = [str(kind.pk) for kind in ContentType.objects.all()[:5]]

    @staticmethod
    def _key_of(model: type[models.Model]) -> str:
        found = model._base_manager.values_list("pk", flat=True).first()
        return "1" if found is None else str(found)

    def drawn(self, seed: str, draw: Random) -> Malformed:
        model = draw.choice(self._models)
        address = f"/admin/{self._path(model, draw)}"
        if draw.random() < 0.7:
            address += f"?{self._query(model, draw)}"
        method = draw.choice(["GET", "GET", "POST"])
        return Malformed(
            number=seed,
            method=method,
            address=address,
            body=self._form(model, draw) if method == "POST" else b"",
            content_type="application/x-www-form-urlencoded"
            if draw.random() < 0.9
            else draw.choice(malformed.CONTENT_TYPES),
            headers={"Cookie": self._cookie},
        )

    def _path(self, model: type[models.Model], draw: Random) -> str:
        of_model = f"{model._meta.app_label}/{model._meta.model_name}/"
        # Quoted, since a slash in it would be another address.
        key = self._keys[model] if draw.random() < 0.5 else quote(_text(draw), safe="", errors="replace")[:3000]
        ways = [
            *[of_model] * 4,
            *[f"{of_model}{key}/change/"] * 3,
            f"{of_model}{key}/history/",
            f"{of_model}{key}/delete/",
            f"{of_model}{key}/password/",
            f"{of_model}{key}/",
            f"{of_model}add/",
            f"r/{draw.choice(self._kinds)}/{key}/",
            draw.choice(WHOLE),
        ]
        return draw.choice(ways)

    def _query(self, model: type[models.Model], draw: Random) -> str:
        names = [field.name for field in model._meta.get_fields()]
        pairs: list[tuple[str, str]] = []
        for _ in range(draw.randint(1, 3)):
            name = draw.choice([*PARAMETERS, f"{draw.choice(names)}__{draw.choice(LOOKUPS)}", draw.choice(names)])
            pairs.append((name, _text(draw)[:9000]))
        if draw.random() < 0.1:
            pairs += [("app_label", model._meta.app_label), ("model_name", str(model._meta.model_name))]
            pairs.append(("field_name", names[0]))
        return urlencode(pairs, errors="replace")

    def _form(self, model: type[models.Model], draw: Random) -> bytes:
        if draw.random() < 0.2:
            return malformed.spoilt("{}", draw)
        names = [field.name for field in model._meta.fields]
        fields: list[tuple[str, Any]] = [(draw.choice(names), _text(draw)) for _ in range(draw.randint(0, 4))]
        fields += [(draw.choice(BUTTONS), "1"), ("csrfmiddlewaretoken", "x")]
        if draw.random() < 0.5:
            fields += [("action", draw.choice(["delete_selected", "nonsense", ""])), ("_selected_action", _text(draw))]
        if draw.random() < 0.5:
            fields += [("username", _text(draw)), ("password1", _text(draw)), ("password2", "correct horse")]
        return urlencode([(name, str(value)[:9000]) for name, value in fields], errors="replace").encode()


def _text(draw: Random) -> str:
    return draw.choice(
        [*map(str, malformed.VALUES), "1", "0", "-1", "9" * 400, "2026-01-02", "1.2.-3", "0,0,0", "False"]
    )
