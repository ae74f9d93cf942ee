"""Triton's linear layouts as plain data, and the layouts of this library that they are.

A linear layout sends a place (register, lane, warp, block) to an element: each input has one basis
for each of its bits, and the element is the XOR of the bases of the bits that are set.

    ll = LinearLayout(
        {"register": [(0, 1)], "lane": [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]},
        {"dim0": 8, "dim1": 8},
    )
    ll.apply(register=1, lane=5)      # {'dim0': 1, 'dim1': 3}

That is the direction place -> element; layouts here say element -> place.  `from_linear` gives the
first as a Map, `tile_from_linear` the second as a layout, where there is one; `to_linear`
(linear_export.py) goes back.  Basis k of an input is where the place 2**k is; the place 0 is always
element 0.  (Linear layouts: arXiv 2505.23819.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Any

from layout_algebra import terms
from layout_algebra.axes import Axis, m, reg
from layout_algebra.interop.bit_spaces import Span, xor_of
from layout_algebra.interop.refusals import InteropError, checked_names, is_power_of_two
from layout_algebra.maps import Map
from layout_algebra.terms import Term, Var

#: Which axis a place's number is on, by the names that Triton gives its inputs.
IN_AXES: Mapping[str, str] = {
    "register": "m",
    "lane": "laneid",
    "warp": "warpid",
    "block": "cbx",
    "offset": "m",
    "row": "TLane",
    "col": "TCol",
}
#: Bits of a place or of an element that are calculated with: interpreters hold them in 62.
MOST_INDEX_BITS = 62

Basis = tuple[int, ...]


@dataclass(frozen=True, init=False)
class LinearLayout:
    """A map from places to elements that is linear over F2.

    Args:
        bases: input name -> one basis for each of its bits, lowest bit first; a basis has one
            number for each output.
        out_dims: output name -> its size, a power of two; the first is the slowest.

    Raises:
        InteropError: a size that is no power of two, or a basis outside the outputs.
    """

    bases: tuple[tuple[str, tuple[Basis, ...]], ...]
    out_dims: tuple[tuple[str, int], ...]

    def __init__(
        self, bases: Mapping[str, Sequence[Sequence[int]]], out_dims: Mapping[str, int]
    ) -> None:
        if not isinstance(bases, Mapping) or not isinstance(out_dims, Mapping):  # type: ignore[redundant-expr]
            raise InteropError(
                "a linear layout is made of {input: [basis, ...]} and {output: size}; got "
                f"{bases!r} and {out_dims!r}"
            )
        for name, size in out_dims.items():
            _check_name(name, "an output")
            if not is_power_of_two(size):
                raise InteropError(f"output {name} has a power of two as its size; got {size!r}")
        sizes = tuple(out_dims.items())
        found = tuple((_check_name(n, "an input"), _bases(n, b, sizes)) for n, b in bases.items())
        if set(bases) & set(out_dims):
            raise InteropError(f"inputs and outputs of one name: {set(bases) & set(out_dims)}")
        for what, bits in (
            ("inputs", sum(len(vectors) for _, vectors in found)),
            ("outputs", sum(size.bit_length() - 1 for _, size in sizes)),
        ):
            if bits > MOST_INDEX_BITS:
                raise InteropError(f"the {what} have {bits} bits, more than {MOST_INDEX_BITS}")
        object.__setattr__(self, "bases", found)
        object.__setattr__(self, "out_dims", sizes)

    @property
    def in_dims(self) -> dict[str, int]:
        """Input name -> its size."""
        return {name: 1 << len(vectors) for name, vectors in self.bases}

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the outputs."""
        return tuple(size for _, size in self.out_dims)

    def apply(self, **place: int) -> dict[str, int]:
        """The element at a place; an input that is not named is 0.

        Raises:
            InteropError: an input that is not there, or a number outside it.
        """
        sizes = self.in_dims
        for name, value in place.items():
            if name not in sizes:
                raise InteropError(f"no input {name!r}; there are {', '.join(sizes)}")
            if type(value) is not int or not 0 <= value < sizes[name]:
                raise InteropError(f"input {name} is 0 to {sizes[name] - 1}; got {value!r}")
        columns = [vector for name, one in self.columns() for vector in one if name in place]
        numbers, shift = 0, 0
        for name, vectors in self.bases:
            if name in place:
                numbers |= place[name] << shift
                shift += len(vectors)
        return self.element(xor_of(columns, numbers))

    def columns(self) -> list[tuple[str, list[int]]]:
        """Each input's bases as flat elements (row-major over the outputs)."""
        return [(name, [self.flat(basis) for basis in vectors]) for name, vectors in self.bases]

    def flat(self, basis: Sequence[int]) -> int:
        """The row-major flat index of an element."""
        index = 0
        for value, size in zip(basis, self.shape, strict=True):
            index = index * size + value
        return index

    def element(self, index: int) -> dict[str, int]:
        """The element of a row-major flat index, by output."""
        found: dict[str, int] = {}
        for name, size in reversed(self.out_dims):
            index, found[name] = divmod(index, size)
        return dict(reversed(found.items()))

    def flattened(self) -> LinearLayout:
        """The same with one output, `element`, the row-major index of the outputs."""
        bases = {name: [[vector] for vector in vectors] for name, vectors in self.columns()}
        output = "element" if "element" not in bases else "_".join(("element", *bases))
        return LinearLayout(bases, {output: prod(self.shape)})

    def to_map(self) -> Map:
        """The same map with coordinates by input and places by output; see `from_linear`."""
        return from_linear(self)

    def __str__(self) -> str:
        ins = ", ".join(f"{name}: {[list(b) for b in vectors]}" for name, vectors in self.bases)
        outs = ", ".join(f"{name}: {size}" for name, size in self.out_dims)
        return f"LinearLayout({{{ins}}}, {{{outs}}})"

    def __repr__(self) -> str:
        return str(self)


def from_linear(ll: LinearLayout, names: Mapping[str, str] | None = None) -> Map:
    """The Map place -> element of a linear layout, exactly.

    Args:
        ll: the linear layout.
        names: other names for its inputs, e.g. {"lane": "laneid"}.

    Bases that share no bit add up, so they become one sum; only what is left is a XOR.

    Raises:
        InteropError: no LinearLayout, or names that are no identifiers or the same.
    """
    ll = checked_linear(ll)
    given = checked_names("names=", names)
    renamed = {
        name: _check_name(given.get(name, name), f"input {name} in names=") for name, _ in ll.bases
    }
    if len(set(renamed.values())) < len(renamed):
        raise InteropError(f"two inputs would have one name: {renamed}")
    coordinates = tuple(
        terms.coordinate(renamed[name], 1 << len(vectors)) for name, vectors in ll.bases
    )
    parts: dict[str, list[tuple[Term, int, int]]] = {name: [] for name, _ in ll.out_dims}
    for coordinate, (_, vectors) in zip(coordinates, ll.bases, strict=True):
        for digit, width, basis in _pieces(coordinate, vectors):
            for (name, _), value in zip(ll.out_dims, basis, strict=True):
                if value:
                    parts[name].append((digit, width, value))
    return Map(coordinates, tuple((name, _xor_of_sums(one)) for name, one in parts.items()))


def _pieces(coordinate: Var, vectors: Sequence[Basis]) -> list[tuple[Term, int, Basis]]:
    """The coordinate cut into fields on which the map is one product: (field, bits, basis)."""
    starts = [k for k in range(len(vectors)) if k == 0 or not _continues(vectors, k)]
    ends = [*starts[1:], len(vectors)][: len(starts)]
    widths = [end - start for start, end in zip(starts, ends, strict=True)]
    digits = terms.split(coordinate, [1 << width for width in reversed(widths)])
    return [
        (digit, width, vectors[start])
        for digit, width, start in zip(reversed(digits), widths, starts, strict=True)
    ]


def _continues(vectors: Sequence[Basis], k: int) -> bool:
    """Whether bit k counts on from bit k-1 on every output: v, 2v with v one bit, or 0, 0."""
    return all(
        after == 2 * before and before & (before - 1) == 0
        for before, after in zip(vectors[k - 1], vectors[k], strict=True)
    )


def _xor_of_sums(parts: Sequence[tuple[Term, int, int]]) -> Term:
    """The XOR of field * value, as sums of those that share no bit."""
    sums: list[tuple[int, list[tuple[Term, int]]]] = []
    for field, width, value in parts:
        mask = value if width == 1 else ((1 << width) - 1) * value
        for position, (taken, members) in enumerate(sums):
            if not taken & mask:
                sums[position] = (taken | mask, [*members, (field, value)])
                break
        else:
            sums.append((mask, [(field, value)]))
    whole = [terms.linear(members) for _, members in sums]
    return list(accumulate(whole, terms.xor))[-1] if whole else terms.const(0)


def axes_of(ll: LinearLayout, in_dims: Mapping[str, Any] | None = None) -> dict[str, Axis]:
    """The axis of each input.

    Args:
        in_dims: input -> axis (or its name), for inputs other than `IN_AXES` says.

    Raises:
        InteropError: no LinearLayout, an input without an axis, or two inputs on one.
    """
    ll = checked_linear(ll)
    known = {**IN_AXES, **checked_names("in_dims=", in_dims)}
    found: dict[str, Axis] = {}
    for name, _ in ll.bases:
        if name not in known:
            raise InteropError(
                f"which axis is input {name!r}? Give in_dims={{{name!r}: axis}}; the known inputs "
                f"are {', '.join(IN_AXES)}"
            )
        axis = Axis.get(known[name])
        axis = m if axis is reg else axis
        if axis in found.values():
            raise InteropError(f"two inputs are on axis {axis.name}: give in_dims= for {name!r}")
        found[name] = axis
    return found


def checked_linear(given: object) -> LinearLayout:
    """The argument, if it is a linear layout of this library.

    Raises:
        InteropError: it is not.
    """
    if not isinstance(given, LinearLayout):
        hint = ": from_triton makes one of Triton's" if hasattr(given, "bases") else ""
        raise InteropError(f"the argument is a LinearLayout; got {type(given).__name__}{hint}")
    return given


def _check_name(name: object, what: str) -> str:
    if not isinstance(name, str) or not name.isidentifier():
        raise InteropError(f"the name of {what} is an identifier; got {name!r}")
    return name


def _bases(name: str, given: Any, out_dims: Sequence[tuple[str, int]]) -> tuple[Basis, ...]:
    """The checked bases of one input."""
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise InteropError(f"input {name} has a list of bases; got {given!r}")
    found: list[Basis] = []
    for position, basis in enumerate(given):
        where = f"basis {position} of input {name}"
        if isinstance(basis, str | bytes) or not isinstance(basis, Sequence):
            raise InteropError(f"{where} is a list of ints, one for each output; got {basis!r}")
        if len(basis) != len(out_dims):
            raise InteropError(
                f"{where} has one number for each of the {len(out_dims)} outputs; got {basis!r}"
            )
        for value, (out, size) in zip(basis, out_dims, strict=True):
            if type(value) is not int or not 0 <= value < size:
                raise InteropError(f"{where}: output {out} is 0 to {size - 1}; got {value!r}")
        found.append(tuple(basis))
    return tuple(found)


def spans_all(ll: LinearLayout) -> int | None:
    """None when every element has a place; else the least flat index 2**k without one."""
    span = Span(vector for _, one in ll.columns() for vector in one)
    bits = sum(size.bit_length() - 1 for size in ll.shape)
    missing = span.first_missing_unit(bits)
    return None if missing is None else 1 << missing
