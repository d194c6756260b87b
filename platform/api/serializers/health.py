"""Health."""

from typing import Any

from rest_framework import serializers


class LiveBody(serializers.Serializer[Any]):
    ok = serializers.BooleanField()


class ReadyBody(serializers.Serializer[Any]):
    ok = serializers.BooleanField()
    checks = serializers.DictField(child=serializers.CharField())
