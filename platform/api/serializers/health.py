"""Health."""

from rest_framework import serializers

from api.serializers.answers import Answer


class LiveBody(Answer):
    ok = serializers.BooleanField()


class DatabaseCircuit(Answer):
    """Requests are refused at once while the database is away, by this process."""

    away_since = serializers.DateTimeField(allow_null=True, help_text="Null while the database answers.")
    num_refused = serializers.IntegerField(help_text="What was refused at once, since this process started.")
    num_failures = serializers.IntegerField(help_text="Times that the database was found to be away.")


class ReadyBody(Answer):
    ok = serializers.BooleanField()
    checks = serializers.DictField(child=serializers.CharField())
    database_circuit = DatabaseCircuit()
