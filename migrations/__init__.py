"""Every app's migrations, one package per app (`MIGRATION_MODULES`)."""
