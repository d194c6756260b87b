# The tables as they stand: 0.1.0 is unreleased, so there is one migration an app.

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('runs', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Adapter',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stream_seq', models.PositiveBigIntegerField()),
                ('attempt', models.PositiveIntegerField()),
                ('batch', models.PositiveIntegerField()),
                ('policy_version', models.PositiveIntegerField()),
                ('artifact_path', models.CharField(help_text='The one file; of several, the folder they lie in.', max_length=300)),
                ('sha256', models.CharField(max_length=64)),
                ('num_bytes', models.PositiveBigIntegerField(help_text='Of all files together.')),
                ('files', models.JSONField(help_text='As in the event: path, checksum and size of each.')),
                ('final', models.BooleanField(default=False)),
                ('at', models.FloatField()),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='adapters', to='runs.run')),
            ],
        ),
        migrations.CreateModel(
            name='Artifact',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('attempt', models.PositiveIntegerField()),
                ('path', models.CharField(max_length=300)),
                ('sha256', models.CharField(max_length=64)),
                ('num_bytes', models.PositiveBigIntegerField()),
                ('content_type', models.CharField(max_length=100)),
                ('storage_key', models.CharField(max_length=400)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='runs.run')),
            ],
        ),
        migrations.CreateModel(
            name='CheckpointRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stream_seq', models.PositiveBigIntegerField()),
                ('attempt', models.PositiveIntegerField()),
                ('batch', models.PositiveIntegerField()),
                ('policy_version', models.PositiveIntegerField()),
                ('optimizer_step', models.PositiveIntegerField()),
                ('uri', models.TextField()),
                ('num_bytes', models.PositiveBigIntegerField()),
                ('at', models.FloatField()),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='checkpoints', to='runs.run')),
            ],
        ),
        migrations.CreateModel(
            name='Preview',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('prompts', models.JSONField()),
                ('num_samples', models.PositiveIntegerField()),
                ('seed', models.PositiveIntegerField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='queued', max_length=10)),
                ('detail', models.TextField(blank=True, default='')),
                ('code_hash', models.CharField(blank=True, default='', max_length=64)),
                ('token_hash', models.CharField(blank=True, default='', max_length=64)),
                ('deadline', models.DateTimeField()),
                ('adapter', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='gallery.adapter')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='previews', to='runs.run')),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='PreviewImage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('with_adapter', models.BooleanField()),
                ('prompt_index', models.PositiveIntegerField()),
                ('index', models.PositiveIntegerField()),
                ('seed', models.PositiveBigIntegerField()),
                ('num_bytes', models.PositiveIntegerField()),
                ('storage_key', models.CharField(max_length=400)),
                ('preview', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='images', to='gallery.preview')),
            ],
            options={
                'ordering': ['prompt_index', 'index'],
            },
        ),
        migrations.CreateModel(
            name='Sample',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stream_seq', models.PositiveBigIntegerField()),
                ('attempt', models.PositiveIntegerField()),
                ('purpose', models.CharField(max_length=16)),
                ('batch', models.PositiveIntegerField()),
                ('policy_version', models.PositiveIntegerField()),
                ('prompt', models.TextField()),
                ('prompt_id', models.CharField(max_length=64)),
                ('prompt_index', models.PositiveIntegerField()),
                ('member', models.PositiveIntegerField()),
                ('seed', models.DecimalField(decimal_places=0, help_text='Up to 64 bits.', max_digits=20)),
                ('reward', models.FloatField(null=True)),
                ('rewards', models.JSONField()),
                ('missing', models.JSONField(default=dict, help_text='Why a reward gave no score, by its key.')),
                ('advantage', models.FloatField(null=True)),
                ('staleness', models.PositiveIntegerField(default=0)),
                ('lane', models.CharField(blank=True, default='', max_length=64)),
                ('artifact_path', models.CharField(max_length=300)),
                ('poster_path', models.CharField(blank=True, default='', help_text='Clips alone have one.', max_length=300)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='runs.run')),
            ],
        ),
        migrations.AddIndex(
            model_name='adapter',
            index=models.Index(fields=['run', '-stream_seq'], name='adapter_newest'),
        ),
        migrations.AddConstraint(
            model_name='artifact',
            constraint=models.UniqueConstraint(fields=('run', 'path', 'attempt'), name='artifact_path_once'),
        ),
        migrations.AddIndex(
            model_name='checkpointrecord',
            index=models.Index(fields=['run', '-stream_seq'], name='checkpoint_newest'),
        ),
        migrations.AddConstraint(
            model_name='previewimage',
            constraint=models.UniqueConstraint(fields=('preview', 'with_adapter', 'prompt_index', 'index'), name='preview_image_once'),
        ),
        migrations.AddIndex(
            model_name='sample',
            index=models.Index(fields=['run', 'purpose', 'batch'], name='sample_by_batch'),
        ),
    ]
