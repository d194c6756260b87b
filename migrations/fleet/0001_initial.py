# The tables as they stand: 0.1.0 is unreleased, so there is one migration an app.

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Node",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
                ("kept_back_by", models.CharField(blank=True, default="", max_length=150)),
                ("name", models.SlugField(max_length=100, unique=True)),
                ("ray_node_id", models.CharField(blank=True, default="", max_length=100)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("active", "Active"),
                            ("cordoned", "Cordoned"),
                            ("draining", "Draining"),
                            ("offline", "Offline"),
                        ],
                        default="active",
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Lane",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
                ("kept_back_by", models.CharField(blank=True, default="", max_length=150)),
                ("kind", models.CharField(choices=[("gpu", "Gpu"), ("cpu", "Cpu")], max_length=5)),
                ("index", models.PositiveIntegerField()),
                ("label", models.CharField(max_length=120, unique=True)),
                ("device", models.CharField(max_length=100)),
                ("accelerator", models.CharField(blank=True, default="", max_length=100)),
                ("resource", models.CharField(blank=True, default="", max_length=120)),
                ("num_cpus", models.FloatField(default=0.5)),
                ("cordoned", models.BooleanField(default=False)),
                ("run_id", models.UUIDField(db_index=True, null=True)),
                ("attempt", models.PositiveIntegerField(null=True)),
                ("preview_id", models.UUIDField(null=True, unique=True)),
                ("role", models.CharField(blank=True, default="", max_length=10)),
                ("role_index", models.PositiveIntegerField(null=True)),
                ("held_since", models.DateTimeField(null=True)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="lanes", to="fleet.node"
                    ),
                ),
            ],
            options={
                "ordering": ["node__name", "kind", "index"],
                "constraints": [
                    models.UniqueConstraint(fields=("node", "kind", "index"), name="lane_once_per_node"),
                    models.UniqueConstraint(
                        fields=("run_id", "attempt", "role", "role_index"), name="lane_role_once_per_attempt"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("attempt", None),
                                ("held_since", None),
                                ("preview_id", None),
                                ("role", ""),
                                ("role_index", None),
                                ("run_id", None),
                            ),
                            models.Q(
                                models.Q(
                                    models.Q(("attempt__isnull", False), ("preview_id", None)),
                                    models.Q(("attempt", None), ("preview_id__isnull", False)),
                                    _connector="OR",
                                ),
                                ("held_since__isnull", False),
                                ("role__gt", ""),
                                ("role_index__isnull", False),
                                ("run_id__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="lane_free_or_held_whole",
                    ),
                ],
            },
        ),
    ]
