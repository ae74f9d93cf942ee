"""How a Python callable becomes a Map: its parameters are coordinates, its result is places."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from layout_algebra import terms
from layout_algebra.dims import Size, as_size, at_least, is_size
from layout_algebra.errors import TraceError
from layout_algebra.terms import Term, Var
from layout_algebra.tracing import term_of


def coordinates_of(source: Callable[..., Any], shape: Any) -> list[Var]:
    """A coordinate for each parameter, with its range.

    Args:
        source: a callable of plain parameters; those with a default are constants.
        shape: their sizes in order, or a mapping from names to a size or (lowest, highest).

    Raises:
        TraceError: parameters that are not plain, or sizes that do not fit them.
    """
    try:
        taken = inspect.signature(source).parameters
    except (TypeError, ValueError):
        raise TraceError(
            f"the parameters of {source!r} are not known: wrap it in a lambda"
        ) from None
    for parameter in taken.values():
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise TraceError(f"a traced callable takes plain parameters; got {parameter}")
    names = list(taken)
    required = [name for name, one in taken.items() if one.default is one.empty]
    if isinstance(shape, Mapping | Sequence) and len(shape) == len(required):
        names = required  # `lambda i, q=q: ...`: a parameter with a default is a constant
    if isinstance(shape, Mapping):
        if set(shape) != set(names):
            raise TraceError(
                f"one size for each parameter ({', '.join(names)}); got sizes for "
                f"({', '.join(map(str, shape))})"
            )
        sizes = [shape[name] for name in names]
    else:
        if shape is None or not isinstance(shape, Sequence):
            raise TraceError(
                "give the shape of a callable: the sizes of its parameters "
                f"({', '.join(names)}), as a tuple or a dict; got {shape!r}"
            )
        sizes = list(shape)
        if len(sizes) != len(names):
            raise TraceError(
                f"one size for each parameter ({', '.join(names)}); got {tuple(sizes)}"
            )
    made: list[Var] = []
    for name, size in zip(names, sizes, strict=True):
        if isinstance(size, tuple) and len(size) != 2:
            raise TraceError(f"the range of {name} is a pair (lowest, highest); got {size!r}")
        low, high = size if isinstance(size, tuple) else (0, size - 1 if is_size(size) else size)
        if not all(bound is None or is_size(bound) for bound in (low, high)):
            raise TraceError(f"the size of {name} is a positive int or a Dim; got {size!r}")
        if is_size(low) and is_size(high) and not at_least(high - low, 0) and not _open(high - low):
            raise TraceError(f"coordinate {name} has no value: {low}..{high} (from {size!r})")
        made.append(
            terms.var(
                name, low if low is None else as_size(low), high if high is None else as_size(high)
            )
        )
    return made


def _open(size: Size) -> bool:
    """Whether a size may be nonnegative for some values of its Dims."""
    return not isinstance(size, int) and not at_least(-size - 1, 0)


def outputs_of(result: Any) -> tuple[tuple[str, Term], ...]:
    """What a traced callable returned, as terms by axis; a single number is on axis m.

    Raises:
        TraceError: an axis that is no name, or named twice, or a value that is no integer.
    """
    if isinstance(result, Mapping):
        pairs = [(getattr(axis, "name", axis), value) for axis, value in result.items()]
        pairs = [("m" if axis == "reg" else axis, value) for axis, value in pairs]
    else:
        pairs = [("m", result)]
    named: set[str] = set()
    for axis, _ in pairs:
        if not isinstance(axis, str) or not axis.isidentifier():
            raise TraceError(f"an output is named by an axis or an identifier; got {axis!r}")
        if axis in named:
            raise TraceError(f"the callable returns two values for axis {axis}: add them up")
        named.add(axis)
    return tuple((axis, term_of(value)) for axis, value in pairs)
