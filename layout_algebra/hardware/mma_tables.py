"""Which mma.sync instructions there are: shapes, element types, accumulators, sections.

    form("m16n8k16", "f16").accumulators        # ("float32", "float16")

A register of a multiplicand holds `packed` elements that are neighbours along K: 32 bits divided by
an element's width, but one double in a register of 64 bits.  Elements of 6 and 4 bits sit in
containers of 8 bits in m16n8k32 (and in the sparse m16n8k64); only m16n8k64 (sparse: m16n8k128)
packs eight of 4 bits into a register.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from layout_algebra.errors import LayoutError

#: The document that sections are of.
PTX = "PTX ISA 9.1, section "

#: Other names of an element type -> the name that entries carry.
_ALIASES = {
    "f16": "float16",
    "fp16": "float16",
    "half": "float16",
    "bf16": "bfloat16",
    "f64": "float64",
    "fp64": "float64",
    "double": "float64",
    "f32": "float32",
    "fp32": "float32",
    "float": "float32",
    "s32": "int32",
    "s8": "int8",
    "u8": "uint8",
    "s4": "int4",
    "u4": "uint4",
    "float8_e4m3": "e4m3",
    "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2",
    "float6_e2m3": "e2m3",
    "float6_e2m3fn": "e2m3",
    "float6_e3m2": "e3m2",
    "float6_e3m2fn": "e3m2",
    "float4_e2m1": "e2m1",
    "float4_e2m1fn": "e2m1",
}
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")

_HALVES = ("float16", "bfloat16")
_BYTES = ("int8", "uint8")
_NIBBLES = ("int4", "uint4")
_FP8 = ("e4m3", "e5m2")
_NARROW = (*_FP8, "e3m2", "e2m3", "e2m1")


@dataclass(frozen=True)
class Form:
    """One shape over one family of element types.

    Attributes:
        shape: like "m16n8k16".
        dtypes: types of A and of B.  Of several, A's and B's may differ.
        packed: elements in a register of A or B.
        accumulators: types that C and D may have, the usual one first.
        section: where the document shows its fragments.
    """

    shape: str
    dtypes: tuple[str, ...]
    packed: int
    accumulators: tuple[str, ...]
    section: str

    @property
    def sizes(self) -> tuple[int, int, int]:
        """M, N and K."""
        return sizes_of(self.shape)


F = TypeVar("F", bound=Form)

_FLOATS = ("float32", "float16")

#: Every shape over each family, as the document lists them.
FORMS = (
    Form("m8n8k4", ("float16",), 2, _FLOATS, "9.7.14.5.1"),
    Form("m8n8k4", ("float64",), 1, ("float64",), "9.7.14.5.2"),
    Form("m8n8k16", _BYTES, 4, ("int32",), "9.7.14.5.3"),
    Form("m8n8k32", _NIBBLES, 8, ("int32",), "9.7.14.5.4"),
    Form("m16n8k4", ("tf32",), 1, ("float32",), "9.7.14.5.6"),
    Form("m16n8k4", ("float64",), 1, ("float64",), "9.7.14.5.6"),
    Form("m16n8k8", ("float16",), 2, _FLOATS, "9.7.14.5.7"),
    Form("m16n8k8", ("bfloat16",), 2, ("float32",), "9.7.14.5.7"),
    Form("m16n8k8", ("tf32",), 1, ("float32",), "9.7.14.5.7"),
    Form("m16n8k8", ("float64",), 1, ("float64",), "9.7.14.5.7"),
    Form("m16n8k16", ("float16",), 2, _FLOATS, "9.7.14.5.8"),
    Form("m16n8k16", ("bfloat16",), 2, ("float32",), "9.7.14.5.8"),
    Form("m16n8k16", ("float64",), 1, ("float64",), "9.7.14.5.8"),
    Form("m16n8k16", _BYTES, 4, ("int32",), "9.7.14.5.9"),
    Form("m16n8k16", _FP8, 4, _FLOATS, "9.7.14.5.9"),
    Form("m16n8k32", _NIBBLES, 8, ("int32",), "9.7.14.5.10"),
    Form("m16n8k32", _BYTES, 4, ("int32",), "9.7.14.5.10"),
    Form("m16n8k32", _NARROW, 4, _FLOATS, "9.7.14.5.10"),
    Form("m16n8k64", _NIBBLES, 8, ("int32",), "9.7.14.5.11"),
    Form("m16n8k64", ("e2m1",), 8, ("float32",), "9.7.14.5.11"),
)


@dataclass(frozen=True)
class SparseForm(Form):
    """One shape with a sparse A.

    Attributes:
        chunk: neighbours of a row of A of which `kept` are stored.
        kept: see `chunk`.
        selectors: values of the sparsity selector, from 0.
    """

    chunk: int = 4
    kept: int = 2
    selectors: int = 1


#: Every shape with a sparse A.
SPARSE_FORMS = (
    SparseForm("m16n8k8", ("tf32",), 1, ("float32",), "9.7.14.6.2.4", 2, 1, 4),
    SparseForm("m16n8k16", ("float16",), 2, _FLOATS, "9.7.14.6.2.1", 4, 2, 4),
    SparseForm("m16n8k16", ("bfloat16",), 2, ("float32",), "9.7.14.6.2.1", 4, 2, 4),
    SparseForm("m16n8k16", ("tf32",), 1, ("float32",), "9.7.14.6.2.3", 2, 1, 2),
    SparseForm("m16n8k32", ("float16",), 2, _FLOATS, "9.7.14.6.2.2", 4, 2, 2),
    SparseForm("m16n8k32", ("bfloat16",), 2, ("float32",), "9.7.14.6.2.2", 4, 2, 2),
    SparseForm("m16n8k32", _BYTES, 4, ("int32",), "9.7.14.6.2.5", 4, 2, 2),
    SparseForm("m16n8k64", _BYTES, 4, ("int32",), "9.7.14.6.2.6", 4, 2, 1),
    SparseForm("m16n8k64", _NARROW, 4, _FLOATS, "9.7.14.6.2.6", 4, 2, 1),
    SparseForm("m16n8k64", _NIBBLES, 8, ("int32",), "9.7.14.6.2.7", 8, 4, 2),
    SparseForm("m16n8k128", _NIBBLES, 8, ("int32",), "9.7.14.6.2.8", 8, 4, 1),
    SparseForm("m16n8k128", ("e2m1",), 8, ("float32",), "9.7.14.6.2.8", 8, 4, 1),
)


def canonical(dtype: object) -> str:
    """An element type's name as entries carry it; an unknown one as it was given."""
    name = str(getattr(dtype, "__name__", None) or dtype).removeprefix("torch.").lower()
    return _ALIASES.get(name, name)


def sizes_of(shape: str) -> tuple[int, int, int]:
    """M, N and K of a shape's name."""
    match = _SHAPE.fullmatch(shape)
    if match is None:
        raise LayoutError(f"a shape is written like m16n8k16; got {shape!r}")
    rows, columns, depth = map(int, match.groups())
    return rows, columns, depth


def form(shape: object, dtype: object) -> Form:
    """The dense instruction of a shape and of A's type.

    Raises:
        LayoutError: no such instruction; the message has those that there are.
    """
    return _find("mma", {(f.shape, name): f for f in FORMS for name in f.dtypes}, shape, dtype)


def sparse_form(shape: object, dtype: object) -> SparseForm:
    """The sparse instruction of a shape and of A's type; errors as for `form`."""
    known = {(f.shape, name): f for f in SPARSE_FORMS for name in f.dtypes}
    return _find("mma_sparse", known, shape, dtype)


def _find(what: str, known: Mapping[tuple[str, str], F], shape: object, dtype: object) -> F:
    found = known.get((str(shape), canonical(dtype)))
    if found is not None:
        return found
    shapes = list(dict.fromkeys(one for one, _ in known))
    if shape not in shapes:
        raise LayoutError(f"{what}: the shape is one of {', '.join(shapes)}; got {shape!r}")
    dtypes = ", ".join(name for one, name in known if one == shape)
    raise LayoutError(f"{what}: {shape} is over {dtypes}; got {dtype!r}")


def second_type(what: str, one: Form, first: str, given: object) -> str:
    """B's type: that of A unless another one is given.

    Raises:
        LayoutError: a type that does not go with A's.
    """
    name = first if given is None else canonical(given)
    if name not in one.dtypes:
        allowed = ", ".join(one.dtypes)
        raise LayoutError(f"{what}: B of {one.shape} with A of {first} is {allowed}; got {given!r}")
    return name


def accumulator_type(what: str, one: Form, given: object) -> str:
    """C's and D's type: the usual one unless another one is given.

    Raises:
        LayoutError: a type that the instruction does not accumulate in.
    """
    name = one.accumulators[0] if given is None else canonical(given)
    if name not in one.accumulators:
        allowed = " or ".join(one.accumulators)
        raise LayoutError(
            f"{what}: {one.shape} over {one.dtypes[0]} accumulates in {allowed}; got {given!r}"
        )
    return name
