# The tables as they stand: 0.1.0 is unreleased, so there is one migration an app.

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.fields.json
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
            name='CachedPlan',
            fields=[
                ('key', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('sections', models.JSONField()),
                ('body', models.JSONField()),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=120)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('forked_from', models.TextField(blank=True, default='')),
                ('forked_batch', models.PositiveIntegerField(null=True)),
                ('traceparent', models.CharField(blank=True, default='', max_length=55)),
                ('spec', models.JSONField()),
                ('spec_lanes', models.GeneratedField(db_persist=True, expression=django.db.models.fields.json.KeyTransform('lanes', 'spec'), output_field=models.JSONField())),
                ('base_model', models.GeneratedField(db_persist=True, expression=django.db.models.fields.json.KeyTextTransform('path', django.db.models.fields.json.KeyTransform('base_model', 'spec')), output_field=models.TextField())),
                ('algorithm', models.GeneratedField(db_persist=True, expression=django.db.models.fields.json.KeyTextTransform('name', django.db.models.fields.json.KeyTransform('algorithm', 'spec')), output_field=models.TextField())),
                ('preset', models.CharField(blank=True, default='', max_length=100)),
                ('prompts', models.JSONField()),
                ('num_prompts', models.GeneratedField(db_persist=True, expression=models.Func('prompts', function='jsonb_array_length'), output_field=models.PositiveIntegerField())),
                ('algebra', models.JSONField()),
                ('num_batches', models.PositiveIntegerField()),
                ('max_attempts', models.PositiveIntegerField()),
                ('workload', models.CharField(max_length=64)),
                ('priority', models.PositiveSmallIntegerField(default=1)),
                ('pool', models.CharField(default='default', max_length=63)),
                ('state', models.CharField(choices=[('queued', 'queued'), ('starting', 'starting'), ('running', 'running'), ('paused', 'paused'), ('stopping', 'stopping'), ('completed', 'completed'), ('stopped', 'stopped'), ('cancelled', 'cancelled'), ('failed', 'failed')], default='queued', max_length=10)),
                ('state_changed_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('ending', models.CharField(blank=True, default='', max_length=10)),
                ('ending_at', models.DateTimeField(null=True)),
                ('resized_lanes', models.JSONField(null=True)),
                ('attempt', models.PositiveIntegerField(default=0)),
                ('resume_from', models.TextField(blank=True, default='')),
                ('resume_batch', models.PositiveIntegerField(default=0)),
                ('failure', models.JSONField(null=True)),
                ('phase', models.CharField(blank=True, default='', max_length=20)),
                ('num_batches_done', models.PositiveIntegerField(default=0)),
                ('policy_version', models.PositiveIntegerField(default=0)),
                ('headline', models.JSONField(default=dict)),
                ('started_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('last_heartbeat_at', models.DateTimeField(null=True)),
                ('notes', models.TextField(blank=True, default='')),
                ('tags', models.JSONField(default=list)),
                ('archived_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='created_runs', to=settings.AUTH_USER_MODEL)),
                ('parent', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='children', to='runs.run')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='accounts.project')),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='QueuePlace',
            fields=[
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='queue_place', serialize=False, to='runs.run')),
                ('attempt', models.PositiveIntegerField()),
                ('behind', models.JSONField(default=list)),
                ('words', models.CharField(max_length=40)),
                ('reason', models.CharField(max_length=200)),
                ('moved_by', models.CharField(max_length=150)),
                ('moved_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ['moved_at'],
            },
        ),
        migrations.CreateModel(
            name='RunStream',
            fields=[
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='stream', serialize=False, to='runs.run')),
                ('last_stream_seq', models.PositiveBigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('resumed_from', models.TextField(blank=True, default='')),
                ('num_overtaken', models.PositiveIntegerField(default=0)),
                ('rewards_on', models.CharField(blank=True, default='', max_length=10)),
                ('submitted_at', models.DateTimeField(null=True)),
                ('bootstrap_code_hash', models.CharField(blank=True, default='', max_length=64)),
                ('bootstrap_expires_at', models.DateTimeField(null=True)),
                ('bootstrap_used_at', models.DateTimeField(null=True)),
                ('token_hash', models.CharField(blank=True, default='', max_length=64)),
                ('silent_from', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('outcome', models.CharField(blank=True, choices=[('ended', 'Ended'), ('lost', 'Lost'), ('parked', 'Parked'), ('moved', 'Moved'), ('closed', 'Closed')], default='', max_length=10)),
                ('detail', models.TextField(blank=True, default='')),
                ('log_tail', models.TextField(blank=True, default='')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='runs.run')),
            ],
            options={
                'ordering': ['number'],
            },
        ),
        migrations.CreateModel(
            name='PendingCommand',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('pause', 'pause'), ('resume', 'resume'), ('stop', 'stop'), ('cancel', 'cancel'), ('sample_now', 'sample_now'), ('checkpoint_now', 'checkpoint_now'), ('resize', 'resize')], max_length=20)),
                ('args', models.JSONField(default=dict)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('delivered_at', models.DateTimeField(null=True)),
                ('done_at', models.DateTimeField(null=True)),
                ('accepted', models.BooleanField(null=True)),
                ('detail', models.TextField(blank=True, default='')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='commands', to='runs.run')),
            ],
            options={
                'ordering': ['created_at'],
            },
        ),
        migrations.CreateModel(
            name='PlanRevision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('since_batch', models.PositiveIntegerField()),
                ('reason', models.TextField()),
                ('spec', models.JSONField()),
                ('plan', models.JSONField()),
                ('promise', models.JSONField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('attempt', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='plan_revisions', to='runs.attempt')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='plan_revisions', to='runs.run')),
            ],
            options={
                'ordering': ['number'],
            },
        ),
        migrations.CreateModel(
            name='RunLogEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stream_seq', models.PositiveBigIntegerField()),
                ('attempt', models.PositiveIntegerField()),
                ('at', models.FloatField(help_text='Unix time in seconds.')),
                ('type', models.CharField(max_length=32)),
                ('level', models.CharField(choices=[('debug', 'Debug'), ('info', 'Info'), ('warning', 'Warning'), ('error', 'Error')], max_length=8)),
                ('source', models.TextField()),
                ('text', models.TextField()),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='runs.run')),
            ],
        ),
        migrations.CreateModel(
            name='RunResize',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('attempt', models.PositiveIntegerField()),
                ('cause', models.CharField(choices=[('user', 'user'), ('plan', 'plan'), ('drain', 'drain'), ('borrow', 'borrow'), ('reclaim', 'reclaim'), ('idle', 'idle')], max_length=10)),
                ('added', models.JSONField(default=list)),
                ('state', models.CharField(choices=[('requested', 'requested'), ('accepted', 'accepted'), ('done', 'done'), ('failed', 'failed')], max_length=10)),
                ('reason', models.TextField(blank=True, default='')),
                ('lanes', models.JSONField(default=list)),
                ('trainer_seconds', models.JSONField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('ended_at', models.DateTimeField(null=True)),
                ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='resizes', to='runs.run')),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='RunTransition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stream_seq', models.PositiveBigIntegerField()),
                ('old', models.CharField(blank=True, default='', max_length=10)),
                ('new', models.CharField(max_length=10)),
                ('reason', models.TextField(blank=True, default='')),
                ('actor', models.CharField(max_length=150)),
                ('request_id', models.CharField(blank=True, default='', max_length=64)),
                ('token_key', models.CharField(blank=True, default='', max_length=25)),
                ('attempt', models.PositiveIntegerField()),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='transitions', to='runs.run')),
            ],
            options={
                'ordering': ['stream_seq'],
            },
        ),
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=60)),
                ('query', models.JSONField(default=dict)),
                ('columns', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), default=list, size=None)),
                ('is_dense', models.BooleanField(default=False)),
                ('saved_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('project', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='saved_views', to='accounts.project')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='saved_views', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['name', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='MeasuredCosts',
            fields=[
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='measured_costs', serialize=False, to='runs.run')),
                ('devices', models.CharField(max_length=200)),
                ('lane_devices', models.JSONField(default=dict)),
                ('num_batches', models.PositiveIntegerField()),
                ('costs', models.JSONField()),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'indexes': [models.Index(fields=['devices', '-updated_at'], name='costs_by_device')],
            },
        ),
        migrations.CreateModel(
            name='RunPace',
            fields=[
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='pace', serialize=False, to='runs.run')),
                ('attempt', models.PositiveIntegerField()),
                ('likeness', models.CharField(db_index=True, max_length=64)),
                ('version', models.PositiveIntegerField()),
                ('published_at', models.FloatField()),
                ('start_seconds', models.FloatField(null=True)),
                ('batch_seconds', django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(), default=list, size=None)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'indexes': [models.Index(fields=['likeness', '-updated_at'], name='paces_alike')],
            },
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['state', 'pool', 'priority', 'created_at'], name='run_queue'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['project', '-created_at'], name='run_list'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['-created_at', '-id'], name='run_newest'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['workload'], name='run_workload'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'starting', 'running', 'paused', 'stopping', 'completed', 'stopped', 'cancelled', 'failed'])), name='run_state_known'),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.UniqueConstraint(fields=('run', 'number'), name='attempt_number_once_per_run'),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('run',), name='one_open_attempt_per_run'),
        ),
        migrations.AddIndex(
            model_name='pendingcommand',
            index=models.Index(condition=models.Q(('done_at', None)), fields=['run'], name='open_commands'),
        ),
        migrations.AddConstraint(
            model_name='planrevision',
            constraint=models.UniqueConstraint(fields=('run', 'number'), name='plan_revision_number_once_per_run'),
        ),
        migrations.AddIndex(
            model_name='runlogentry',
            index=models.Index(condition=models.Q(('level', 'error')), fields=['run', 'stream_seq'], name='log_errors'),
        ),
        migrations.AddIndex(
            model_name='runlogentry',
            index=models.Index(condition=models.Q(('type', 'command')), fields=['run', 'stream_seq'], name='log_commands'),
        ),
        migrations.AddConstraint(
            model_name='runlogentry',
            constraint=models.UniqueConstraint(fields=('run', 'stream_seq'), name='log_entry_number_once'),
        ),
        migrations.AddIndex(
            model_name='runresize',
            index=models.Index(condition=models.Q(('ended_at', None)), fields=['run'], name='open_resizes'),
        ),
        migrations.AddConstraint(
            model_name='runtransition',
            constraint=models.UniqueConstraint(fields=('run', 'stream_seq'), name='transition_seq_once_per_run'),
        ),
        migrations.AddConstraint(
            model_name='savedview',
            constraint=models.UniqueConstraint(fields=('user', 'project', 'name'), name='saved_view_once', nulls_distinct=False),
        ),
        migrations.CreateModel(
            name='Sweep',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=90)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('plan', models.JSONField()),
                ('fields', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), size=None)),
                ('num_invalid_draws', models.PositiveIntegerField(default=0)),
                ('invalid_draw', models.TextField(blank=True, default='')),
                ('state', models.CharField(choices=[('running', 'Running'), ('stopping', 'Stopping'), ('stopped', 'Stopped'), ('completed', 'Completed')], default='running', max_length=10)),
                ('reason', models.TextField(blank=True, default='')),
                ('ended_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('parent', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='runs.run')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sweeps', to='accounts.project')),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='SweepPoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('values', models.JSONField()),
                ('sweep', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='points', to='runs.sweep')),
            ],
            options={
                'ordering': ['number'],
            },
        ),
        migrations.CreateModel(
            name='RungReport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('num_samples', models.PositiveBigIntegerField()),
                ('value', models.FloatField()),
                ('is_pruned', models.BooleanField()),
                ('reason', models.TextField(blank=True, default='')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('point', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reports', to='runs.sweeppoint')),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='SweepRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seed', models.PositiveBigIntegerField()),
                ('made_run', models.UUIDField(null=True)),
                ('filled_at', models.DateTimeField(null=True)),
                ('problem', models.TextField(blank=True, default='')),
                ('point', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='places', to='runs.sweeppoint')),
                ('run', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='sweep_place', to='runs.run')),
            ],
            options={
                'ordering': ['point__number', 'seed'],
            },
        ),
        migrations.AddIndex(
            model_name='sweep',
            index=models.Index(fields=['project', '-created_at'], name='sweep_list'),
        ),
        migrations.AddIndex(
            model_name='sweep',
            index=models.Index(condition=models.Q(('ended_at', None)), fields=['state'], name='sweep_at_work'),
        ),
        migrations.AddConstraint(
            model_name='sweep',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_at', None), ('state__in', ['running', 'stopping'])), models.Q(('ended_at__isnull', False), ('state__in', ['stopped', 'completed'])), _connector='OR'), name='sweep_ends_in_an_end_state'),
        ),
        migrations.AddConstraint(
            model_name='sweeppoint',
            constraint=models.UniqueConstraint(fields=('sweep', 'number'), name='sweep_point_once'),
        ),
        migrations.AddConstraint(
            model_name='rungreport',
            constraint=models.UniqueConstraint(fields=('point', 'num_samples'), name='one_report_per_rung'),
        ),
        migrations.AddConstraint(
            model_name='sweeprun',
            constraint=models.UniqueConstraint(fields=('point', 'seed'), name='sweep_seed_once_per_point'),
        ),
        migrations.AddIndex(
            model_name='runlogentry',
            index=models.Index(condition=models.Q(('at__range', (0.0, 10000000000.0)), _negated=True), fields=['run'], name='log_entry_unreadable'),
        ),
    ]
