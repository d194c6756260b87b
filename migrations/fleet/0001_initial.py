# The tables as they stand: 0.1.0 is unreleased, so there is one migration an app.

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Node',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(blank=True, default='', max_length=200)),
                ('cordoned_by', models.CharField(blank=True, default='', max_length=150)),
                ('name', models.SlugField(max_length=100, unique=True)),
                ('ray_node_id', models.CharField(blank=True, default='', max_length=100)),
                ('state', models.CharField(choices=[('active', 'Active'), ('cordoned', 'Cordoned'), ('draining', 'Draining'), ('offline', 'Offline')], default='active', max_length=10)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Lane',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(blank=True, default='', max_length=200)),
                ('cordoned_by', models.CharField(blank=True, default='', max_length=150)),
                ('kind', models.CharField(choices=[('gpu', 'Gpu'), ('cpu', 'Cpu')], max_length=5)),
                ('index', models.PositiveIntegerField()),
                ('label', models.CharField(max_length=120, unique=True)),
                ('num_cpus', models.FloatField(default=0.5)),
                ('cordoned', models.BooleanField(default=False)),
                ('run_id', models.UUIDField(db_index=True, null=True)),
                ('attempt', models.PositiveIntegerField(null=True)),
                ('preview_id', models.UUIDField(null=True, unique=True)),
                ('role', models.CharField(blank=True, default='', max_length=10)),
                ('name_in_run', models.CharField(blank=True, default='', max_length=40)),
                ('held_since', models.DateTimeField(null=True)),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lanes', to='fleet.node')),
            ],
            options={
                'ordering': ['node__name', 'kind', 'index'],
            },
        ),
        migrations.CreateModel(
            name='Gpu',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('index', models.PositiveIntegerField()),
                ('uuid', models.CharField(blank=True, default='', max_length=100)),
                ('accelerator', models.CharField(blank=True, default='', max_length=100)),
                ('resource', models.CharField(max_length=120)),
                ('lane', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='gpus', to='fleet.lane')),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gpus', to='fleet.node')),
            ],
            options={
                'ordering': ['node__name', 'index'],
            },
        ),
        migrations.CreateModel(
            name='LaneUse',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('label', models.CharField(max_length=120)),
                ('gpus', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), default=list, size=None)),
                ('accelerator', models.CharField(blank=True, default='', max_length=100)),
                ('run_id', models.UUIDField(db_index=True)),
                ('attempt', models.PositiveIntegerField(null=True)),
                ('preview_id', models.UUIDField(null=True)),
                ('role', models.CharField(max_length=10)),
                ('name_in_run', models.CharField(max_length=40)),
                ('since', models.DateTimeField()),
                ('until', models.DateTimeField(null=True)),
                ('borrowed_from', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='lent_lane_uses', to='accounts.project')),
                ('lane', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='uses', to='fleet.lane')),
                ('project', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='lane_uses', to='accounts.project')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='lane_uses', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['since', 'pk'],
                'indexes': [models.Index(fields=['project', 'since'], name='lane_use_of_project')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('until', None)), fields=('lane',), name='one_open_use_per_lane'), models.CheckConstraint(condition=models.Q(('until', None), ('until__gte', models.F('since')), _connector='OR'), name='lane_use_ends_after_it_began')],
            },
        ),
        migrations.AddConstraint(
            model_name='lane',
            constraint=models.UniqueConstraint(fields=('node', 'kind', 'index'), name='lane_once_per_node'),
        ),
        migrations.AddConstraint(
            model_name='lane',
            constraint=models.UniqueConstraint(fields=('run_id', 'attempt', 'name_in_run'), name='lane_name_once_per_attempt'),
        ),
        migrations.AddConstraint(
            model_name='lane',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('attempt', None), ('held_since', None), ('name_in_run', ''), ('preview_id', None), ('role', ''), ('run_id', None)), models.Q(models.Q(models.Q(('attempt__isnull', False), ('preview_id', None)), models.Q(('attempt', None), ('preview_id__isnull', False)), _connector='OR'), ('held_since__isnull', False), ('name_in_run__gt', ''), ('role__gt', ''), ('run_id__isnull', False)), _connector='OR'), name='lane_free_or_held_whole'),
        ),
        migrations.AddConstraint(
            model_name='gpu',
            constraint=models.UniqueConstraint(fields=('node', 'index'), name='gpu_once_per_node'),
        ),
        migrations.AddConstraint(
            model_name='gpu',
            constraint=models.UniqueConstraint(condition=models.Q(('uuid', ''), _negated=True), fields=('uuid',), name='gpu_uuid_once'),
        ),
    ]
