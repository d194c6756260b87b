"""What REST itself remembers: names of tokens, and answers to repeated requests."""

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.utils import timezone


class TokenName(models.Model):
    """What a user called a token; the token itself is knox's, hashed."""

    token = models.OneToOneField("knox.AuthToken", primary_key=True, on_delete=models.CASCADE, related_name="label")
    name = models.CharField(max_length=100)


class IdempotencyKey(models.Model):
    """The answer given to the request that first carried this key."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    request_sha256 = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    body = models.JSONField(null=True, encoder=DjangoJSONEncoder)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="idempotency_key_once")]
