"""What a compiler can make of a trace at best: each chain of element-wise operations between two products is one
kernel, which reads what comes from outside of it once and writes once what is read after it.

Two operations are in one chain where one reads what the other writes, or both read the same, and no product or
attention lies on a path between them: then equally many of these lie before both.
"""

from collections import defaultdict
from collections.abc import Sequence

from tests.bench.roofline.traced_kernels import Kernel, KernelKind, Value


def fused(kernels: Sequence[Kernel]) -> list[Kernel]:
    """The trace with chains in place of element-wise operations; products and attention as they are."""
    levels = _levels(kernels)
    chains = _chains(kernels, levels)
    readers = _readers(kernels, chains)
    made = [kernel for kernel in kernels if kernel.kind is not KernelKind.ELEMENT_WISE]
    members = defaultdict(list)
    for index, chain in chains.items():
        members[chain].append(index)
    return made + [_as_one(kernels, indices, chain, readers) for chain, indices in members.items()]


def _levels(kernels: Sequence[Kernel]) -> list[int]:
    """The number of products and attentions on the longest path to each kernel."""
    level_of_value: dict[int, int] = {}
    found = []
    for kernel in kernels:
        level = max((level_of_value.get(value.storage, 0) for value in kernel.reads), default=0)
        found.append(level)
        after = level + (kernel.kind is not KernelKind.ELEMENT_WISE)
        for value in kernel.writes:
            level_of_value[value.storage] = max(after, level_of_value.get(value.storage, 0))
    return found


def _chains(kernels: Sequence[Kernel], levels: Sequence[int]) -> dict[int, int]:
    """The chain of each element-wise kernel, by index, named by one of its members."""
    parents: dict[int, int] = {}

    def root(index: int) -> int:
        while parents[index] != index:
            parents[index] = parents[parents[index]]
            index = parents[index]
        return index

    last: dict[tuple[int, int], int] = {}
    for index, (kernel, level) in enumerate(zip(kernels, levels, strict=True)):
        if kernel.kind is not KernelKind.ELEMENT_WISE:
            continue
        parents[index] = index
        for value in (*kernel.reads, *kernel.writes):
            key = value.storage, level
            if key in last:
                parents[root(index)] = root(last[key])
            last[key] = index
    return {index: root(index) for index in parents}


def _readers(kernels: Sequence[Kernel], chains: dict[int, int]) -> dict[int, set[int]]:
    """Who reads each storage: chains by their name, other kernels by −1 − index."""
    found = defaultdict[int, set[int]](set)
    for index, kernel in enumerate(kernels):
        for value in kernel.reads:
            found[value.storage].add(chains.get(index, -1 - index))
    return found


def _as_one(kernels: Sequence[Kernel], indices: Sequence[int], chain: int, readers: dict[int, set[int]]) -> Kernel:
    written: dict[int, int] = {}
    read: dict[int, int] = {}
    for index in indices:
        for value in kernels[index].reads:
            if value.storage not in written:
                read[value.storage] = max(value.num_bytes, read.get(value.storage, 0))
        for value in kernels[index].writes:
            written[value.storage] = max(value.num_bytes, written.get(value.storage, 0))
    # What nobody reads is a result of the pass.
    kept = {each: size for each, size in written.items() if readers.get(each, set()) != {chain}}
    return Kernel(KernelKind.ELEMENT_WISE, 0.0, _values(read), _values(kept))


def _values(sizes: dict[int, int]) -> tuple[Value, ...]:
    return tuple(Value(storage, size) for storage, size in sizes.items())
