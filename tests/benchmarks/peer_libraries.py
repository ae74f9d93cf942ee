"""How each CuTe layout library is asked, ours among them; one library to a process.

    python -m tests.benchmarks.peer_libraries pycute answers.jsonl < requests.json

Requests are [operation, arguments], layouts in them [shape, stride].  An answer is a layout, the
values of a function, or how the call failed.  Each is written as soon as it is known, so that what
a library said before it took the process down is not lost.  This module imports the one library
that it asks, and nothing else from outside the standard library.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Request = Sequence[Any]  # [operation, arguments]
Answer = dict[str, Any]
Calls = dict[str, Callable[..., Answer]]
Work = Callable[[Calls], None]

NAMES = ("composition", "complement", "logical_divide", "left_inverse", "right_inverse")

#: What no library raises on purpose: reported as an error, not as a refusal.
ACCIDENTS = (ArithmeticError, AttributeError, LookupError, NameError, RecursionError, TypeError)


def tupled(nested: Any) -> Any:
    """Lists, which JSON has, as tuples, which layouts have."""
    return tuple(tupled(part) for part in nested) if isinstance(nested, list | tuple) else nested


def through(call: Callable[..., Answer], arguments: Sequence[Any]) -> Answer:
    """What a call gives, or how it failed."""
    try:
        return call(*arguments)
    except ACCIDENTS as error:
        return {"error": f"{type(error).__name__}: {error}"}
    except Exception as error:  # each library has its own kinds of refusal
        return {"refused": f"{type(error).__name__}: {error}"}


def on_layouts(make: Callable[..., Any], operation: Callable[..., Any]) -> Callable[..., Answer]:
    """The operation with [shape, stride] made into a layout; other arguments pass."""

    def answer(*arguments: Any) -> Answer:
        given = [make(*tupled(a)) if isinstance(a, list) else a for a in arguments]
        found = operation(*given)
        return {"layout": [found.shape, found.stride]}

    return answer


def swizzled(make: Callable[..., Any], invert: Callable[..., Any] | None = None) -> Calls:
    """`swizzle`, and its inverse where there is one, as the values on a whole period."""

    def values(function: Callable[[int], int], bits: int) -> Answer:
        return {"values": [function(x) for x in range(1 << bits)]}

    calls: Calls = {"swizzle": lambda B, M, S: values(make(B, M, S), B + M + abs(S))}
    if invert is not None:
        calls["swizzle inverse"] = lambda B, M, S: values(invert(make(B, M, S)), B + M + abs(S))
    return calls


def of_ours(work: Work) -> None:
    from layout_algebra import cute
    from layout_algebra.inverting import swizzle_inverse

    def undo(swizzle: cute.Swizzle) -> Callable[[int], int]:
        def undone(address: int) -> int:
            for step in swizzle_inverse(swizzle.core):
                address = step(address)
            return address

        return undone

    calls = {name: on_layouts(cute.Layout, getattr(cute, name)) for name in NAMES}
    work(calls | swizzled(cute.Swizzle, undo))


def of_our_tiles(work: Work) -> None:
    """The same questions to TileLayouts, whose iters are the leaves in reverse."""
    from layout_algebra import composing, cute, inverting
    from layout_algebra.maps import Map

    def answered(operation: Callable[..., Any]) -> Callable[..., Answer]:
        def answer(*arguments: Any) -> Answer:
            found = operation(*(cute.to_tile(cute.Layout(*tupled(a))) for a in arguments))
            if isinstance(found, composing.ComposedMap):
                return {"refused": found.why_no_layout}
            if isinstance(found, Map):
                (only,) = found.coordinates
                inside = range(int(only.low or 0), int(only.high or 0) + 1)
                return {"values": [found.apply(place)["m"] for place in inside]}
            layout = cute.from_tile(found)
            if not isinstance(layout, cute.Layout):
                raise TypeError(f"no layout without a swizzle: {layout}")
            return {"layout": [layout.shape, layout.stride]}

        return answer

    calls = {name: answered(getattr(inverting, name)) for name in ("left_inverse", "right_inverse")}
    work(calls | {"composition": answered(composing.compose)})


def of_tensor_layouts(work: Work) -> None:
    theirs = importlib.import_module("tensor_layouts.layouts")
    calls = {name: on_layouts(theirs.Layout, getattr(theirs, name)) for name in NAMES[1:]}
    calls["composition"] = on_layouts(theirs.Layout, theirs.compose)
    work(calls | swizzled(theirs.Swizzle, theirs.left_inverse))


def of_pycute(work: Work) -> None:
    theirs = importlib.import_module("pycute")
    calls = {name: on_layouts(theirs.Layout, getattr(theirs, name)) for name in NAMES}
    work(calls | swizzled(theirs.Swizzle))


def of_cute_dsl(work: Work) -> None:
    """Static layouts are computed while a function is traced: nothing is compiled or launched."""
    theirs = importlib.import_module("cutlass.cute")

    class TracedError(Exception):
        """All answers are there."""

    def layout(shape: Any, stride: Any) -> Any:
        return theirs.make_layout(shape, stride=stride)

    def swizzle(B: int, M: int, S: int) -> Any:
        domain = theirs.make_layout(1 << (B + M + abs(S)))
        return theirs.make_composed_layout(theirs.make_swizzle(B, M, S), 0, domain)

    def traced() -> None:
        calls = {name: on_layouts(layout, getattr(theirs, name)) for name in NAMES}
        work(calls | swizzled(swizzle))
        raise TracedError

    try:
        theirs.jit(traced)()
    except TracedError:
        return


@dataclass(frozen=True)
class Library:
    """A library: its package's name, the module that shows that it is there, how it answers."""

    package: str
    module: str
    answers: Callable[[Work], None]


LIBRARIES = {
    "layout-algebra": Library("layout-algebra", "layout_algebra", of_ours),
    "layout-algebra (TileLayout)": Library("layout-algebra", "layout_algebra", of_our_tiles),
    "tensor-layouts": Library("tensor-layouts", "tensor_layouts", of_tensor_layouts),
    "pycute": Library("nvidia-cutlass", "pycute", of_pycute),
    "cute dsl": Library("nvidia-cutlass-dsl", "cutlass.cute", of_cute_dsl),
}


def answer_all(name: str, requests: Sequence[Request], say: Callable[[Answer], None]) -> None:
    """One answer for each request, in order.

    Args:
        name: of LIBRARIES.
        requests: what to ask.
        say: gets each answer when it is known.
    """

    def work(calls: Calls) -> None:
        for operation, arguments in requests:
            call = calls.get(operation)
            say({"missing": operation} if call is None else through(call, arguments))

    LIBRARIES[name].answers(work)


def main(name: str, path: str) -> int:
    """Answers standard input's requests into a file of lines; the first line is the version."""
    library = LIBRARIES[name]
    try:
        version = importlib.metadata.version(library.package)
        importlib.import_module(library.module)
    except ImportError as error:
        print(f"not installed: {error}", file=sys.stderr)
        return 1
    with open(path, "w", encoding="utf-8") as out:

        def say(answer: Any) -> None:
            out.write(json.dumps(answer) + "\n")
            out.flush()

        say(version)
        answer_all(name, json.load(sys.stdin), say)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
