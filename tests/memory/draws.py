"""Random accesses, once for the package and once as plain numbers.

    drawn = draw(random.Random(7), "shared", "read")
    drawn.access        # the package's Access
    drawn.plain         # the same for the enumeration
    drawn.text          # what it is, for a failure's message

The callables are shared: the package calls them with symbols, the enumeration with numbers.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from layout_algebra import ComposeLayout, Dim, S, TileLayout, m
from layout_algebra.memory import Access, Buffer
from tests.memory.enumerated import Accessed, Placed, Variable

DTYPES: dict[int, tuple[object, ...]] = {
    4: ("int4", "e2m1"),
    6: ("e2m3", 6),
    8: ("uint8", "float8_e4m3fn"),
    16: ("float16", "bf16"),
    32: ("float32", "s32"),
    64: ("float64",),
    128: (128, "int32x4"),
}
Part = tuple[str, Callable[..., Any]]


@dataclass(frozen=True)
class Drawn:
    """One random access; see the module's text."""

    access: Access
    plain: Accessed
    text: str


@dataclass
class Recipe:
    """What has been drawn so far: variables, and the view that coordinates lie in."""

    rng: random.Random
    variables: list[Variable]
    rows: int
    columns: int
    count: int

    def parameter(self, name: str, multiple: int, most: int) -> int:
        """A further parameter of the callables; its number."""
        index = sum(one.parameter for one in self.variables)
        # few values each, the first or the last ones, so that few points reach far
        further = self.rng.choice((1, 2, 3))
        last = most // multiple
        least = max(0, last - further) * multiple if self.rng.random() < 0.5 else 0
        most = min(last * multiple, least + further * multiple)
        self.variables.append(Variable(name, multiple, least, most))
        return index


#: Values of all free variables together that one access may have.
MOST_POINTS = 24


def draw(rng: random.Random, scope: str, kind: str) -> Drawn:
    """A random access to a buffer of the scope."""
    while True:
        drawn = _draw(rng, scope, kind)
        if math.prod(len(one.values) for one in drawn.plain.free) <= MOST_POINTS:
            return drawn


def _draw(rng: random.Random, scope: str, kind: str) -> Drawn:
    bits = rng.choice(tuple(DTYPES))
    counts = [n for n in (1, 1, 2, 4, 8, 16, 32) if n * bits <= 128]
    rows, columns = rng.choice((8, 12, 16, 32, 64)), rng.choice((16, 24, 32, 40, 64, 128))
    count = rng.choice([n for n in counts if n <= columns])
    variables: list[Variable] = []
    shape, placed, layout = draw_layout(rng, rows, columns, variables)
    align = draw_align(rng, bits * count)
    buffer = Buffer(
        tuple(size_of(one, variables) for one in shape),
        rng.choice(DTYPES[bits]),  # type: ignore[arg-type]
        layout,
        scope=scope,  # type: ignore[arg-type]
        align=align,
    )
    begin, view = draw_view(rng, rows, columns, count, variables)
    recipe = Recipe(rng, variables, view[0], view[1], count)
    row_text, row = draw_row(recipe)
    column_text, column = draw_column(recipe)
    active_text, active = draw_active(recipe)
    lanes = rng.choice((32, 32, 32, 32, 31, 16, 8, 3))

    def where(lane: Any, *free: Any) -> tuple[Any, Any]:
        return row(lane, *free), column(lane, *free)

    plain = Accessed(
        shape, placed, bits, bits * count, lanes, align, where, active, begin, view,
        tuple(variables),
    )  # fmt: skip
    target = buffer
    if begin:
        starts = [size_of(one, variables) for one in begin]
        target = buffer[tuple(slice(b, b + n) for b, n in zip(starts, view, strict=True))]
    how: dict[str, Any] = {"lanes": lanes, "bits": bits * count, "active": active}
    how["free"] = [dim_of(one) for one in variables if one.parameter]
    access = getattr(target, kind)(where, **how)
    text = f"{access}; align {align}; ({row_text}, {column_text}); {active_text}; {variables}"
    return Drawn(access, plain, text)


def dim_of(variable: Variable) -> Any:
    """The Dim of a variable."""
    return Dim(
        variable.name,
        multiple_of=variable.multiple,
        at_least=variable.least,
        at_most=variable.most,
    )


def size_of(size: int | str, variables: list[Variable]) -> Any:
    """A size for the package."""
    if isinstance(size, int):
        return size
    return dim_of(next(one for one in variables if one.name == size))


# ---------------------------------------------------------------------------------- buffers
def draw_layout(
    rng: random.Random, rows: int, columns: int, variables: list[Variable]
) -> tuple[tuple[int | str, ...], Placed, Any]:
    """A shape of two dimensions and a layout of it."""
    shape: tuple[int | str, ...] = (rows, columns)
    extents: tuple[int | str, ...] = shape
    strides: tuple[int | str, ...]
    match rng.choice(("padded", "padded", "columns", "pages", "blocks", "random", "pitch", "rows")):
        case "padded":
            strides = (columns + rng.choice((0, 0, 1, 2, 4, 8, 16, 3)), 1)
        case "columns":
            strides = (1, rows + rng.choice((0, 1, 2, 8)))
        case "pages":
            page = rng.choice((4, 8))
            extents = (rows, columns // page, page)
            strides = (page, rows * page + rng.choice((0, 0, 8)), 1)
        case "blocks":
            extents = (rows // 4, 4, columns // 4, 4)
            strides = (4 * columns, 4, 16, 1) if rng.random() < 0.5 else (16, 4, 4 * rows, 1)
        case "random":
            strides = (rng.choice((0, 1, 5, 8, 24, 33, 64)), rng.choice((0, 1, 2, 3, 4, 32)))
        case "pitch":
            step = rng.choice((1, 2, 4, 8, 16))
            least = -(-columns // step) * step
            variables.append(
                Variable("ld", step, least, least + rng.choice((2, 4)) * step, parameter=False)
            )
            strides = ("ld", 1)
        case _:
            variables.append(Variable("M", 8, 64, 72, parameter=False))
            shape = extents = ("M", columns)
            strides = (columns, 1)
    offset = rng.choice((0, 0, 0, 1, 8, 64))
    swizzle = draw_swizzle(rng)
    tile_extents = tuple(size_of(one, variables) for one in extents)
    spec = S[tile_extents : tuple(size_of(one, variables) for one in strides)]
    layout = TileLayout(spec + offset @ m)
    placed = Placed(extents, strides, offset, swizzle)
    return (
        shape,
        placed,
        layout if swizzle is None else ComposeLayout(*swizzle[:3], layout, swizzle[3]),
    )


def draw_swizzle(rng: random.Random) -> tuple[int, int, int, bool] | None:
    """(per_element, swizzle_len, atom_len, swizzle_inner), or no swizzle half of the time."""
    if rng.random() >= 0.5:
        return None
    length = rng.randint(1, 3)
    return rng.randint(0, 4), length, rng.randint(length, 4), rng.random() < 0.8


def draw_align(rng: random.Random, width: int) -> int:
    """Mostly what the access needs, sometimes less, sometimes far more."""
    own = 1
    while 8 * own < width:
        own *= 2
    return rng.choice((own, own, own, 16, 128, 1024, max(1, own // 2), 1, 4))


def draw_view(
    rng: random.Random, rows: int, columns: int, count: int, variables: list[Variable]
) -> tuple[tuple[int | str, ...], tuple[int, int]]:
    """A view's begin, empty for the whole buffer, and sizes."""
    if rng.random() < 0.6:
        return (), (rows, columns)
    size = (rng.choice((4, 8)), rng.choice((8, 16)) if count <= 8 else columns)
    begin: list[int | str] = []
    for name, whole, own, step in (("i0", rows, size[0], 4), ("k0", columns, size[1], count)):
        steps = (whole - own) // step
        if steps > 0 and rng.random() < 0.6:
            least = max(0, steps - 3) if rng.random() < 0.5 else 0
            # sometimes no bound of its own, or one beyond: the view bounds it
            most = rng.choice((least + 3, steps + 1 if least else 3)) * step
            variables.append(Variable(name, step, least * step, most, parameter=False))
            begin.append(name)
        else:
            begin.append(rng.randint(0, max(0, steps)) * step)
    return tuple(begin), size


# -------------------------------------------------------------------------------- callables
def draw_row(recipe: Recipe) -> Part:
    """The first coordinate."""
    rng, rows = recipe.rng, recipe.rows
    a, b, k = rng.choice((1, 2, 3, 5)), rng.randrange(rows), rng.choice((2, 4, 8, 16))
    match rng.choice(["modulo", "quotient", "linear", "xor", "free", "shifted", "constant"]):
        case "modulo":
            few = rng.choice([n for n in (2, 4, 8, rows) if n <= rows])
            return f"lane % {few}", lambda lane, *_: lane % few
        case "quotient":
            return f"lane // {k} % {rows}", lambda lane, *_: lane // k % rows
        case "linear":
            return f"({a}*lane + {b}) % {rows}", lambda lane, *_: (a * lane + b) % rows
        case "xor":
            few = 4 if rows < 8 else 8
            text = f"(lane % {few}) ^ (lane // {few} % {few})"
            return text, lambda lane, *_: (lane % few) ^ (lane // few % few)
        case "free":
            i = recipe.parameter("i", 1, rows - 1)
            return "i", lambda lane, *free: free[i]
        case "shifted":
            i = recipe.parameter("i", 1, rows - 1)
            return f"(lane + i) % {rows}", lambda lane, *free: (lane + free[i]) % rows
        case _:
            return f"{b}", lambda lane, *_: b


def draw_column(recipe: Recipe) -> Part:
    """The last coordinate, mostly at a whole number of what a lane moves."""
    rng, count = recipe.rng, recipe.count
    room = recipe.columns // count
    a, b, k = rng.choice((1, 2, 3, 4, 8)), rng.randrange(room), rng.choice((1, 4, 8, 16))
    match rng.choice(["constant", "lanes", "linear", "free", "loose", "xor"]):
        case "constant":
            return f"{b * count}", lambda lane, *_: b * count
        case "lanes":
            return f"lane % {room} * {count}", lambda lane, *_: lane % room * count
        case "linear":
            text = f"({a}*(lane // {k}) + {b}) % {room} * {count}"
            return text, lambda lane, *_: (a * (lane // k) + b) % room * count
        case "free":
            j = recipe.parameter("j", count, recipe.columns - count)
            return "j", lambda lane, *free: free[j]
        case "loose":
            most = recipe.columns - count + 1
            return f"{a}*lane % {most}", lambda lane, *_: a * lane % most
        case _ if room >= 8:
            j = recipe.parameter("j", 1, 7)
            return f"(lane % 8 ^ j) * {count}", lambda lane, *free: ((lane % 8) ^ free[j]) * count
        case _:
            return "0", lambda lane, *_: 0


def draw_active(recipe: Recipe) -> tuple[str, Callable[..., Any] | None]:
    """Which lanes take part."""
    rng = recipe.rng
    a, b = sorted((rng.randrange(32), rng.randrange(33)))
    match rng.choice(["all", "all", "all", "all", "below", "between", "even", "others", "free"]):
        case "below":
            return f"lane < {b}", lambda lane, *_: lane < b
        case "between":
            return f"{a} <= lane < {b}", lambda lane, *_: (lane >= a) & (lane < b)
        case "even":
            return "lane % 2 == 0", lambda lane, *_: lane % 2 == 0
        case "others":
            return "lane % 4 != 1", lambda lane, *_: lane % 4 != 1
        case "free" if any(one.parameter for one in recipe.variables):
            return "lane <= first + 9", lambda lane, *free: lane <= free[0] + 9
        case _:
            return "all lanes", None
