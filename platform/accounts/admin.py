"""Accounts in Django's admin: where an admin creates users. Members are managed on the project's page."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from accounts.models import Project, User

admin.site.register(User, UserAdmin)
admin.site.register(Project)
