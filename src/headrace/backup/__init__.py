"""Backups of a data directory that is in use: incremental, consistent, to a folder or a bucket, and their way back."""

from headrace.backup.creating import BackupReport, create_backup
from headrace.backup.manifest import Manifest, moments_of
from headrace.backup.restoring import restore_backup
from headrace.log.objects import ObjectStore, open_objects

__all__ = [
    "BackupReport",
    "Manifest",
    "ObjectStore",
    "create_backup",
    "moments_of",
    "open_objects",
    "restore_backup",
]
