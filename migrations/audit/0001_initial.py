# The tables as they stand: 0.1.0 is unreleased, so there is one migration an app.

import django.core.serializers.json
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('actor', models.CharField(max_length=150)),
                ('by_service_account', models.BooleanField(default=False)),
                ('request_id', models.CharField(blank=True, default='', max_length=64)),
                ('token_key', models.CharField(blank=True, default='', max_length=25)),
                ('action', models.CharField(max_length=60)),
                ('object_type', models.CharField(max_length=60)),
                ('object_id', models.CharField(max_length=64)),
                ('object_name', models.CharField(blank=True, default='', max_length=200)),
                ('project_id', models.UUIDField(null=True)),
                ('changes', models.JSONField(default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder)),
                ('user', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'audit entries',
                'ordering': ['-at', '-pk'],
                'indexes': [models.Index(fields=['-at'], name='audit_by_time'), models.Index(fields=['object_type', 'object_id'], name='audit_of_object'), models.Index(fields=['project_id', '-at'], name='audit_of_project'), models.Index(fields=['request_id'], name='audit_of_request')],
            },
        ),
    ]
