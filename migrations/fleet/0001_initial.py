# The tables as they stand: 0.1.0 is unreleased, so there is one migration an app.

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import uuid
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
            name='Gpu',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('active', 'Active'), ('cordoned', 'Cordoned'), ('draining', 'Draining'), ('maintenance', 'Maintenance'), ('awaiting_test', 'Awaiting Test'), ('faulty', 'Faulty')], default='active', max_length=15)),
                ('reason', models.CharField(blank=True, default='', max_length=200)),
                ('changed_by', models.CharField(blank=True, default='', max_length=150)),
                ('state_since', models.DateTimeField(default=django.utils.timezone.now)),
                ('state_until', models.DateTimeField(null=True)),
                ('labels', models.JSONField(default=dict)),
                ('notes', models.TextField(blank=True, default='')),
                ('price_per_gpu_hour', models.DecimalField(decimal_places=4, max_digits=10, null=True)),
                ('index', models.PositiveIntegerField()),
                ('uuid', models.CharField(blank=True, default='', max_length=100)),
                ('accelerator', models.CharField(blank=True, default='', max_length=100)),
                ('resource', models.CharField(blank=True, default='', max_length=120)),
                ('identity', models.JSONField(default=dict)),
                ('topology', models.JSONField(default=dict)),
                ('live', models.JSONField(default=dict)),
                ('faults', models.JSONField(default=dict)),
                ('reported_at', models.DateTimeField(null=True)),
                ('health', models.CharField(default='healthy', max_length=10)),
                ('health_causes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=120), default=list, size=None)),
                ('remedy', models.CharField(default='none', max_length=40)),
                ('health_since', models.DateTimeField(default=django.utils.timezone.now)),
                ('faults_before', models.JSONField(default=dict)),
                ('throttled_by', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), default=list, size=None)),
                ('throttled_at', models.DateTimeField(null=True)),
                ('held_for', models.DateTimeField(null=True)),
                ('idle_since', models.DateTimeField(null=True)),
                ('longest_idle_seconds', models.FloatField(default=0.0)),
                ('slow_factor', models.FloatField(null=True)),
                ('slow_at_work', models.CharField(blank=True, default='', max_length=20)),
                ('lost_since', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['node__name', 'index', 'uuid'],
            },
        ),
        migrations.CreateModel(
            name='GpuReadings',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_index=True)),
                ('values', models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name='Lane',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('active', 'Active'), ('cordoned', 'Cordoned'), ('draining', 'Draining'), ('maintenance', 'Maintenance'), ('awaiting_test', 'Awaiting Test'), ('faulty', 'Faulty')], default='active', max_length=15)),
                ('reason', models.CharField(blank=True, default='', max_length=200)),
                ('changed_by', models.CharField(blank=True, default='', max_length=150)),
                ('state_since', models.DateTimeField(default=django.utils.timezone.now)),
                ('state_until', models.DateTimeField(null=True)),
                ('kind', models.CharField(choices=[('gpu', 'Gpu'), ('cpu', 'Cpu')], max_length=5)),
                ('index', models.PositiveIntegerField()),
                ('label', models.CharField(max_length=120, unique=True)),
                ('num_cpus', models.FloatField(default=0.5)),
                ('run_id', models.UUIDField(db_index=True, null=True)),
                ('attempt', models.PositiveIntegerField(null=True)),
                ('preview_id', models.UUIDField(null=True, unique=True)),
                ('test_id', models.UUIDField(db_index=True, null=True)),
                ('role', models.CharField(blank=True, default='', max_length=10)),
                ('name_in_run', models.CharField(blank=True, default='', max_length=40)),
                ('held_since', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ['node__name', 'kind', 'index'],
            },
        ),
        migrations.CreateModel(
            name='Node',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('active', 'Active'), ('cordoned', 'Cordoned'), ('draining', 'Draining'), ('maintenance', 'Maintenance'), ('awaiting_test', 'Awaiting Test'), ('faulty', 'Faulty')], default='active', max_length=15)),
                ('reason', models.CharField(blank=True, default='', max_length=200)),
                ('changed_by', models.CharField(blank=True, default='', max_length=150)),
                ('state_since', models.DateTimeField(default=django.utils.timezone.now)),
                ('state_until', models.DateTimeField(null=True)),
                ('labels', models.JSONField(default=dict)),
                ('notes', models.TextField(blank=True, default='')),
                ('price_per_gpu_hour', models.DecimalField(decimal_places=4, max_digits=10, null=True)),
                ('name', models.SlugField(max_length=100, unique=True)),
                ('ray_node_id', models.CharField(blank=True, default='', max_length=100)),
                ('address', models.CharField(blank=True, default='', max_length=200)),
                ('num_cores', models.PositiveIntegerField(null=True)),
                ('memory_bytes', models.PositiveBigIntegerField(null=True)),
                ('memory_used_bytes', models.PositiveBigIntegerField(null=True)),
                ('load', models.FloatField(null=True)),
                ('object_store_bytes', models.PositiveBigIntegerField(null=True)),
                ('shm_free_bytes', models.PositiveBigIntegerField(null=True)),
                ('spill_free_bytes', models.PositiveBigIntegerField(null=True)),
                ('embeddings_room_bytes', models.PositiveBigIntegerField(null=True)),
                ('in_cluster_at', models.DateTimeField(null=True)),
                ('reported_at', models.DateTimeField(null=True)),
                ('reader_error', models.CharField(blank=True, default='', max_length=500)),
                ('gpus_per_lane', models.PositiveSmallIntegerField(default=1)),
                ('are_gpus_held', models.BooleanField(default=True)),
                ('lost_since', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='NodeAgent',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('code_hash', models.CharField(max_length=64)),
                ('code_expires_at', models.DateTimeField()),
                ('code_used_at', models.DateTimeField(null=True)),
                ('token_hash', models.CharField(blank=True, default='', max_length=64)),
                ('head_address', models.CharField(blank=True, default='', max_length=200)),
                ('reported_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='Pool',
            fields=[
                ('name', models.CharField(max_length=63, primary_key=True, serialize=False)),
                ('description', models.CharField(blank=True, default='', max_length=200)),
                ('match_labels', models.JSONField(default=dict)),
                ('order', models.PositiveSmallIntegerField(default=100)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ['order', 'name'],
            },
        ),
        migrations.CreateModel(
            name='ProjectBudget',
            fields=[
                ('project', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='budget', serialize=False, to='accounts.project')),
                ('amount', models.DecimalField(decimal_places=4, max_digits=14, validators=[django.core.validators.MinValueValidator(0)])),
                ('unit', models.CharField(choices=[('cost', 'Cost'), ('gpu_hours', 'Gpu Hours')], max_length=10)),
                ('period', models.CharField(choices=[('month', 'Month'), ('whole', 'Whole')], max_length=10)),
                ('warn_at', models.FloatField(default=0.8, validators=[django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(1.0)])),
                ('when_spent', models.CharField(choices=[('warn', 'Warn'), ('hold', 'Hold'), ('stop', 'Stop')], default='hold', max_length=5)),
                ('since', models.DateTimeField()),
                ('warned_at', models.DateTimeField(null=True)),
                ('spent_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='ProjectShare',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('guaranteed_lanes', models.PositiveIntegerField(default=0)),
                ('max_lanes', models.PositiveIntegerField(null=True)),
                ('weight', models.FloatField(default=1.0, validators=[django.core.validators.MinValueValidator(0.0)])),
            ],
        ),
        migrations.CreateModel(
            name='StateChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=220)),
                ('old', models.CharField(max_length=20)),
                ('new', models.CharField(max_length=20)),
                ('reason', models.CharField(blank=True, default='', max_length=200)),
                ('by', models.CharField(max_length=150)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ['-at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='GpuMinute',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('begin', models.DateTimeField()),
                ('num_readings', models.PositiveSmallIntegerField()),
                ('values', models.JSONField()),
                ('throttled', models.JSONField(default=dict)),
                ('gpu', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='minutes', to='fleet.gpu')),
            ],
            options={
                'ordering': ['begin'],
            },
        ),
        migrations.CreateModel(
            name='GpuTest',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('passed', 'Passed'), ('failed', 'Failed')], default='queued', max_length=10)),
                ('requested_by', models.CharField(max_length=150)),
                ('num_repeats', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('started_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('faults_before', models.JSONField(default=dict)),
                ('steps', models.JSONField(default=list)),
                ('reason', models.CharField(blank=True, default='', max_length=500)),
                ('code_hash', models.CharField(blank=True, default='', max_length=64)),
                ('code_expires_at', models.DateTimeField(null=True)),
                ('code_used_at', models.DateTimeField(null=True)),
                ('token_hash', models.CharField(blank=True, default='', max_length=64)),
                ('gpu', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tests', to='fleet.gpu')),
                ('peer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='fleet.gpu')),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='HealthChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=220)),
                ('health', models.CharField(max_length=10)),
                ('causes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=120), default=list, size=None)),
                ('remedy', models.CharField(max_length=40)),
                ('faults', models.JSONField()),
                ('run_id', models.UUIDField(null=True)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('gpu', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='health_changes', to='fleet.gpu')),
            ],
            options={
                'ordering': ['-at', '-pk'],
            },
        ),
        migrations.AddField(
            model_name='gpu',
            name='lane',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='gpus', to='fleet.lane'),
        ),
        migrations.CreateModel(
            name='LaneLoan',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('label', models.CharField(max_length=120)),
                ('pool', models.CharField(default='default', max_length=63)),
                ('gpus', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), default=list, size=None)),
                ('run_id', models.UUIDField(db_index=True)),
                ('attempt', models.PositiveIntegerField()),
                ('name_in_run', models.CharField(max_length=40)),
                ('role', models.CharField(max_length=10)),
                ('lender_name', models.CharField(blank=True, default='', max_length=120)),
                ('resize', models.UUIDField(null=True)),
                ('since', models.DateTimeField()),
                ('until', models.DateTimeField(null=True)),
                ('reason', models.TextField()),
                ('end_reason', models.TextField(blank=True, default='')),
                ('joined_at', models.DateTimeField(null=True)),
                ('for_run_id', models.UUIDField(null=True)),
                ('notice_at', models.DateTimeField(null=True)),
                ('notice', models.UUIDField(null=True)),
                ('bound_seconds', models.FloatField(null=True)),
                ('num_dropped', models.PositiveIntegerField(default=0)),
                ('num_lanes', models.PositiveIntegerField(default=1)),
                ('predicted_seconds_before', models.FloatField(null=True)),
                ('predicted_seconds', models.FloatField(null=True)),
                ('expected_stay_seconds', models.FloatField(null=True)),
                ('predicted_gain_seconds', models.FloatField(null=True)),
                ('lane', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='loans', to='fleet.lane')),
                ('lender', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='lent_lanes', to='accounts.project')),
                ('project', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='borrowed_lanes', to='accounts.project')),
            ],
            options={
                'ordering': ['-since', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='LaneUse',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('label', models.CharField(max_length=120)),
                ('pool', models.CharField(default='default', max_length=63)),
                ('gpus', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), default=list, size=None)),
                ('accelerator', models.CharField(blank=True, default='', max_length=100)),
                ('run_id', models.UUIDField(db_index=True, null=True)),
                ('attempt', models.PositiveIntegerField(null=True)),
                ('preview_id', models.UUIDField(null=True)),
                ('test_id', models.UUIDField(null=True)),
                ('role', models.CharField(max_length=10)),
                ('name_in_run', models.CharField(max_length=40)),
                ('price_per_hour', models.DecimalField(decimal_places=4, max_digits=12, null=True)),
                ('since', models.DateTimeField()),
                ('until', models.DateTimeField(null=True)),
                ('borrowed_from', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='lent_lane_uses', to='accounts.project')),
                ('lane', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='uses', to='fleet.lane')),
                ('project', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='lane_uses', to='accounts.project')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='lane_uses', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['since', 'pk'],
            },
        ),
        migrations.AddField(
            model_name='lane',
            name='node',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lanes', to='fleet.node'),
        ),
        migrations.AddField(
            model_name='gpu',
            name='node',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gpus', to='fleet.node'),
        ),
        migrations.CreateModel(
            name='PoolPolicy',
            fields=[
                ('pool', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='policy', serialize=False, to='fleet.pool')),
                ('half_life_hours', models.FloatField(default=24.0)),
                ('reclaim_seconds', models.FloatField(default=30.0)),
                ('idle_warning_minutes', models.PositiveIntegerField(default=30)),
                ('idle_release_minutes', models.PositiveIntegerField(null=True)),
            ],
        ),
        migrations.AddConstraint(
            model_name='pool',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('match_labels', {}), ('name', 'default'), ('order', 32767)), models.Q(models.Q(('name', 'default'), _negated=True), models.Q(('match_labels', {}), _negated=True), ('order__lt', 32767)), _connector='OR'), name='default_pool_matches_all'),
        ),
        migrations.AddField(
            model_name='lane',
            name='pool',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='lanes', to='fleet.pool'),
        ),
        migrations.AddConstraint(
            model_name='projectbudget',
            constraint=models.CheckConstraint(condition=models.Q(('amount__gte', 0)), name='budget_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='projectbudget',
            constraint=models.CheckConstraint(condition=models.Q(('warn_at__gte', 0), ('warn_at__lte', 1)), name='budget_warning_is_share'),
        ),
        migrations.AddField(
            model_name='projectshare',
            name='pool',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='fleet.pool'),
        ),
        migrations.AddField(
            model_name='projectshare',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='accounts.project'),
        ),
        migrations.AddField(
            model_name='statechange',
            name='gpu',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='state_changes', to='fleet.gpu'),
        ),
        migrations.AddField(
            model_name='statechange',
            name='lane',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='state_changes', to='fleet.lane'),
        ),
        migrations.AddField(
            model_name='statechange',
            name='node',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='state_changes', to='fleet.node'),
        ),
        migrations.AddIndex(
            model_name='gpuminute',
            index=models.Index(fields=['begin'], name='gpu_minute_at'),
        ),
        migrations.AddConstraint(
            model_name='gpuminute',
            constraint=models.UniqueConstraint(fields=('gpu', 'begin'), name='gpu_minute_once'),
        ),
        migrations.AddConstraint(
            model_name='gputest',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('gpu',), name='one_open_test_per_gpu'),
        ),
        migrations.AddIndex(
            model_name='laneloan',
            index=models.Index(fields=['run_id', 'attempt'], name='loan_of_run'),
        ),
        migrations.AddIndex(
            model_name='laneloan',
            index=models.Index(fields=['until', 'since'], name='loan_by_time'),
        ),
        migrations.AddConstraint(
            model_name='laneloan',
            constraint=models.UniqueConstraint(condition=models.Q(('until', None)), fields=('lane',), name='one_open_loan_per_lane'),
        ),
        migrations.AddConstraint(
            model_name='laneloan',
            constraint=models.CheckConstraint(condition=models.Q(('until', None), ('until__gte', models.F('since')), _connector='OR'), name='loan_ends_after_it_began'),
        ),
        migrations.AddIndex(
            model_name='laneuse',
            index=models.Index(fields=['project', 'since'], name='lane_use_of_project'),
        ),
        migrations.AddIndex(
            model_name='laneuse',
            index=django.contrib.postgres.indexes.GinIndex(fields=['gpus'], name='lane_use_of_gpu'),
        ),
        migrations.AddIndex(
            model_name='laneuse',
            index=models.Index(fields=['pool', 'until'], name='lane_use_of_pool'),
        ),
        migrations.AddConstraint(
            model_name='laneuse',
            constraint=models.UniqueConstraint(condition=models.Q(('until', None)), fields=('lane',), name='one_open_use_per_lane'),
        ),
        migrations.AddConstraint(
            model_name='laneuse',
            constraint=models.CheckConstraint(condition=models.Q(('until', None), ('until__gte', models.F('since')), _connector='OR'), name='lane_use_ends_after_it_began'),
        ),
        migrations.AddConstraint(
            model_name='gpu',
            constraint=models.UniqueConstraint(condition=models.Q(('uuid', '')), fields=('node', 'index'), name='gpu_once_per_node'),
        ),
        migrations.AddConstraint(
            model_name='gpu',
            constraint=models.UniqueConstraint(condition=models.Q(('uuid', ''), _negated=True), fields=('uuid',), name='gpu_uuid_once'),
        ),
        migrations.AddConstraint(
            model_name='poolpolicy',
            constraint=models.CheckConstraint(condition=models.Q(('idle_release_minutes', None), ('idle_release_minutes__gt', models.F('idle_warning_minutes')), _connector='OR'), name='idle_release_after_warning'),
        ),
        migrations.AddConstraint(
            model_name='poolpolicy',
            constraint=models.CheckConstraint(condition=models.Q(('half_life_hours__gt', 0)), name='half_life_positive'),
        ),
        migrations.AddConstraint(
            model_name='poolpolicy',
            constraint=models.CheckConstraint(condition=models.Q(('reclaim_seconds__gte', 0)), name='reclaim_not_negative'),
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
            constraint=models.UniqueConstraint(fields=('test_id', 'name_in_run'), name='lane_name_once_per_test'),
        ),
        migrations.AddConstraint(
            model_name='lane',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('attempt', None), ('held_since', None), ('name_in_run', ''), ('preview_id', None), ('role', ''), ('run_id', None), ('test_id', None)), models.Q(models.Q(models.Q(('attempt__isnull', False), ('preview_id', None), ('run_id__isnull', False), ('test_id', None)), models.Q(('attempt', None), ('preview_id__isnull', False), ('run_id__isnull', False), ('test_id', None)), models.Q(('attempt', None), ('preview_id', None), ('run_id', None), ('test_id__isnull', False)), _connector='OR'), ('held_since__isnull', False), ('name_in_run__gt', ''), ('role__gt', '')), _connector='OR'), name='lane_free_or_held_whole'),
        ),
        migrations.AddConstraint(
            model_name='projectshare',
            constraint=models.UniqueConstraint(fields=('project', 'pool'), name='one_share_per_project_and_pool'),
        ),
        migrations.AddConstraint(
            model_name='projectshare',
            constraint=models.CheckConstraint(condition=models.Q(('weight__gte', 0)), name='share_weight_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='projectshare',
            constraint=models.CheckConstraint(condition=models.Q(('max_lanes', None), ('max_lanes__gte', models.F('guaranteed_lanes')), _connector='OR'), name='share_limit_holds_guarantee'),
        ),
        migrations.AddIndex(
            model_name='statechange',
            index=models.Index(fields=['-at'], name='state_change_at'),
        ),
    ]
