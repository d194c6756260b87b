# The tables as they stand: 0.1.0 is unreleased, so there is one migration an app.

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('runs', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='AttemptStream',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('attempt', models.PositiveIntegerField()),
                ('high_water', models.PositiveBigIntegerField(default=0)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='runs.run')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'attempt'), name='attempt_stream_once')],
            },
        ),
        migrations.CreateModel(
            name='LaneTime',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('attempt', models.PositiveIntegerField()),
                ('lane', models.CharField(max_length=64)),
                ('kind', models.CharField(max_length=16)),
                ('cause', models.CharField(blank=True, default='', max_length=24)),
                ('seconds', models.FloatField()),
                ('first_start', models.FloatField()),
                ('last_end', models.FloatField()),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='runs.run')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'attempt', 'lane', 'kind', 'cause'), name='lane_time_class_once')],
            },
        ),
        migrations.CreateModel(
            name='MetricPoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stream_seq', models.PositiveBigIntegerField()),
                ('attempt', models.PositiveIntegerField()),
                ('key', models.CharField(max_length=128)),
                ('batch', models.PositiveIntegerField(help_text='Complete batches, from 1.')),
                ('optimizer_step', models.PositiveIntegerField()),
                ('at', models.FloatField()),
                ('value', models.FloatField()),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='runs.run')),
            ],
            options={
                'indexes': [models.Index(fields=['run', 'key', 'optimizer_step'], name='metric_point_by_key')],
            },
        ),
        migrations.CreateModel(
            name='MetricRollup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=128)),
                ('attempt', models.PositiveIntegerField()),
                ('level', models.PositiveSmallIntegerField(help_text='Buckets are 4^level optimizer steps wide.')),
                ('bucket', models.PositiveBigIntegerField(help_text='Counts buckets of that width from step 0.')),
                ('first_step', models.PositiveIntegerField()),
                ('last_step', models.PositiveIntegerField()),
                ('last_batch', models.PositiveIntegerField()),
                ('last_at', models.FloatField()),
                ('min', models.FloatField()),
                ('max', models.FloatField()),
                ('mean', models.FloatField()),
                ('count', models.PositiveIntegerField()),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='runs.run')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'level', 'key', 'attempt', 'bucket'), name='metric_rollup_once')],
            },
        ),
        migrations.CreateModel(
            name='SpanRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stream_seq', models.PositiveBigIntegerField()),
                ('attempt', models.PositiveIntegerField()),
                ('lane', models.CharField(max_length=64)),
                ('kind', models.CharField(max_length=16)),
                ('cause', models.CharField(max_length=24, null=True)),
                ('start', models.FloatField()),
                ('end', models.FloatField()),
                ('batch', models.PositiveIntegerField(null=True)),
                ('group', models.PositiveIntegerField(null=True)),
                ('fragment', models.PositiveIntegerField(null=True)),
                ('policy_version', models.PositiveIntegerField(null=True)),
                ('num_samples', models.PositiveIntegerField(default=0)),
                ('rank', models.PositiveSmallIntegerField(null=True)),
                ('num_units', models.PositiveIntegerField(default=0)),
                ('for_run', models.UUIDField(null=True)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='runs.run')),
            ],
            options={
                'indexes': [models.Index(fields=['run', 'end', 'start'], name='span_by_window'), models.Index(fields=['run', 'lane', 'start'], name='span_by_lane')],
            },
        ),
        migrations.CreateModel(
            name='StreamItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stream_seq', models.PositiveBigIntegerField()),
                ('attempt', models.PositiveIntegerField()),
                ('seq', models.PositiveBigIntegerField()),
                ('type', models.CharField(max_length=32)),
                ('at', models.FloatField(help_text="Unix time in seconds, by the driver's clock.")),
                ('body', models.JSONField(help_text='The event without `seq`, `at` and `type`.')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='runs.run')),
            ],
            options={
                'indexes': [models.Index(fields=['run', 'type', 'stream_seq'], name='stream_item_by_type')],
                'constraints': [models.UniqueConstraint(fields=('run', 'stream_seq'), name='stream_item_number_once'), models.UniqueConstraint(fields=('run', 'attempt', 'seq'), name='stream_item_event_once')],
            },
        ),
    ]
