"""What people say of a node or a GPU: nothing here is reported by machines or changes what they do."""

from django.db import models


class Annotated(models.Model):
    labels = models.JSONField(default=dict)
    """Names and values, both text, by which admins group what they have, such as `rack: r2`."""
    notes = models.TextField(blank=True, default="")
    price_per_gpu_hour = models.DecimalField(max_digits=10, decimal_places=4, null=True)
    """What an hour of one GPU costs, in whatever currency the installation reckons; null for no price of its own, so
    that a GPU costs what its node says."""

    class Meta:
        abstract = True
