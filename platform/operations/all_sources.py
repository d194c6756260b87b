"""The source of each kind."""

from collections.abc import Mapping
from typing import Any

from operations.command_operations import CommandOperations
from operations.drain_operations import DrainOperations
from operations.gpu_test_operations import GpuTestOperations
from operations.operation_source import OperationSource
from operations.preview_operations import PreviewOperations
from operations.resize_operations import ResizeOperations
from operations.retention_operations import RetentionOperations
from operations.sweep_operations import SweepOperations

SOURCES: Mapping[str, OperationSource[Any]] = {
    source.kind: source
    for source in (
        PreviewOperations(),
        CommandOperations(),
        ResizeOperations(),
        SweepOperations(),
        GpuTestOperations(),
        DrainOperations(),
        RetentionOperations(),
    )
}
