"""Health."""

from rest_framework import serializers

from api.serializers.answers import Answer


class LiveBody(Answer):
    ok = serializers.BooleanField()


class ReadyBody(Answer):
    ok = serializers.BooleanField()
    checks = serializers.DictField(child=serializers.CharField())
