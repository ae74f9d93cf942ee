"""The command line: what can be typed, and what its exit code says.

    layout-algebra prove proofs/
    layout-algebra check "S[(8,64):(64,1)]" --injective --bijective-onto m=512
    layout-algebra show "S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)]" --shape 8x16
    layout-algebra banks "S[(128,64):(64,1)]" --access column --dtype f16 --bytes 16
    layout-algebra recheck ledger.json
    layout-algebra crosscheck ledger.json --target cpu

    0    everything is proved, or refuted where that was expected
    1    something is refuted or failed, a verdict got worse, or two solvers disagree
    2    the input is not right: the message says what
    3    something is undecided, or its assumptions contradict each other
    4    what was asked for is not installed here
    70   a fault of this program
    130  interrupted

This module only reads arguments.  What a command does is in `commands/`, and is loaded when it is
asked for, so that `--help` does not wait for a solver.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NoReturn

import layout_algebra
from layout_algebra.errors import (
    AxisError,
    LayoutAlgebraError,
    MissingSolverError,
    NotationError,
    WitnessError,
)

BAD_INPUT, NOT_THERE, INTERNAL, INTERRUPTED, BROKEN_PIPE = 2, 4, 70, 130, 141
NAME = "layout-algebra"
#: Advice for programs on an axis that is not registered, which nobody can follow here.
_NEAR = re.compile(r", or is it your own\? Then register it first with Axis\(name, kind=\.\.\.\)")
_NONE_NEAR = re.compile(r"register your own first with Axis\(name, kind=\.\.\.\)")


class _Parser(argparse.ArgumentParser):
    """Errors in one line."""

    def error(self, message: str) -> NoReturn:
        text = " ".join(message.split())
        self.exit(BAD_INPUT, f"{self.prog}: {text} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code.  Errors are lines on standard error, never tracebacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    debug = False
    try:
        arguments = _parser().parse_args(argv)
        debug = arguments.debug
        code = import_module(f"layout_algebra.commands.{arguments.command}").main(arguments)
        print(end="", flush=True)
        return code
    except SystemExit as stop:  # argparse: --help, --version, errors
        return stop.code if isinstance(stop.code, int) else BAD_INPUT
    except BrokenPipeError:  # the reader of our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt as stop:
        return _say(str(stop) or "interrupted", INTERRUPTED)
    except Exception as error:
        if debug:
            raise
        return _failed(error)


def _failed(error: Exception) -> int:
    if isinstance(error, MissingSolverError):
        return _say(str(error), NOT_THERE)
    if isinstance(error, LayoutAlgebraError) and not isinstance(error, WitnessError):
        return _say(_advice(error), BAD_INPUT)
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return _say(f"internal error: {text}; please report it (--debug shows where)", INTERNAL)


def _advice(error: LayoutAlgebraError) -> str:
    """What an error says; of an unknown axis, what can be typed instead."""
    if not isinstance(error, AxisError | NotationError):
        return str(error)
    known = ", ".join(axis.name for axis in layout_algebra.Axis.registered())
    said = _NEAR.sub("?", str(error), count=1)
    return _NONE_NEAR.sub(f"the axes are {known}", said, count=1)


def _say(message: str, code: int) -> int:
    print(f"{NAME}: {message}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=NAME,
        description="Layouts of tensors: written, shown, and proven about.",
        epilog="Exit codes: 0 proved, 1 refuted, 2 bad input, 3 undecided, 4 not installed here.",
        allow_abbrev=False,
    )
    version = f"{NAME} {layout_algebra.__version__}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=_Parser
    )
    everywhere = _Parser(add_help=False)
    everywhere.add_argument("--debug", action="store_true", help="show where an error arose")
    printing = _Parser(add_help=False)
    printing.add_argument("--json", action="store_true", help="print JSON instead of text")
    for name, describe, about in (
        ("prove", _prove, "prove the theorems of files and folders; write a ledger"),
        ("check", _check, "ask whether a layout has a property"),
        ("show", _show, "say what a layout is: axes, formula, places"),
        ("banks", _banks, "how a warp's access to shared memory is served"),
        ("recheck", _recheck, "put a ledger's queries to other solvers"),
        ("crosscheck", _crosscheck, "check a ledger's proofs again by code that runs"),
    ):
        # crosscheck writes its JSON to a file, beside the table
        parents = [everywhere] if name == "crosscheck" else [everywhere, printing]
        command = commands.add_parser(
            name, help=about, description=about, parents=parents, allow_abbrev=False
        )
        describe(command)
    return parser


def _prove(command: argparse.ArgumentParser) -> None:
    command.add_argument("paths", nargs="+", metavar="PATH", help="a Python file, or a folder")
    command.add_argument(
        "--ledger",
        default="ledger.json",
        metavar="FILE",
        help="where to write (ledger.json); its folder must be there",
    )
    command.add_argument(
        "--baseline", metavar="FILE", help="an older ledger: name every verdict that changed"
    )
    command.add_argument("--workers", type=_positive, metavar="N", help="how many processes")
    command.add_argument(
        "--fresh", action="store_true", help="do not go on from an interrupted run"
    )
    command.add_argument(
        "--verbose", action="store_true", help="whole methods, claims and witnesses"
    )
    _progress(command)


def _check(command: argparse.ArgumentParser) -> None:
    command.add_argument("notation", metavar="NOTATION", help='such as "S[(8,64):(64,1)]"')
    claims = command.add_argument_group(
        "claims",
        "Each may be given several times. A BOX is m=8 or m=0:8, the places 0 to 7 (the end is not "
        "in it); laneid=32,m=2:4 names two axes.",
    )
    for flag, about in (
        ("--injective", "no two elements share a place"),
        ("--replicas-distinct", "the copies of one element are at different places"),
        ("--within-hardware", "every place is inside the limits of its axis"),
    ):
        claims.add_argument(
            flag, action="append_const", dest="claims", const=(flag, None), help=about
        )
    for flag, value, about in (
        ("--covers", "BOX", "every place of the box is used"),
        ("--bijective-onto", "BOX", "every place of the box is used exactly once, and no other"),
        ("--within", "BOX", "every place is inside the box, on the axes that it names"),
        ("--equivalent-to", "NOTATION", "the same map from index to places"),
        ("--disjoint-from", "NOTATION", "no place in common"),
        ("--inverse-of", "NOTATION", "each undoes the other"),
        ("--left-inverse", "NOTATION", "that one undoes this one"),
        ("--right-inverse", "NOTATION", "this one undoes that one"),
    ):
        claims.add_argument(
            flag, action="append", dest="claims", type=_tagged(flag), metavar=value, help=about
        )
    command.add_argument(
        "--given", action="append", default=[], metavar="RELATION", help='such as "ld >= K"'
    )
    command.add_argument("--shape", metavar="SHAPE", help="a logical shape, such as 8x64")
    command.add_argument(
        "--method",
        choices=("auto", "structure", "solver", "enumeration"),
        default="auto",
        help="one route to the answer alone",
    )


def _show(command: argparse.ArgumentParser) -> None:
    command.add_argument("notation", metavar="NOTATION", help='such as "S[(8,64):(64,1)]"')
    command.add_argument("--shape", metavar="SHAPE", help="a logical shape, such as 8x64")


def _banks(command: argparse.ArgumentParser) -> None:
    command.add_argument("notation", metavar="NOTATION", help='such as "S[(128,64):(64,1)]"')
    command.add_argument("--shape", metavar="SHAPE", help="the logical shape, such as 128x64")
    command.add_argument(
        "--access",
        default="column",
        metavar="WHERE",
        help='column, row, or coordinates by lane, such as "lane %% 16, lane // 16 * 8"',
    )
    command.add_argument("--dtype", default="float16", help="element type (float16)")
    command.add_argument("--bytes", type=_positive, metavar="N", help="bytes that a lane moves")
    command.add_argument(
        "--align", type=_positive, metavar="N", help="the buffer begins at a multiple of N bytes"
    )
    command.add_argument("--kind", choices=("read", "write"), default="read")
    command.add_argument(
        "--target",
        choices=("nvidia", "nvidia-whole-warp", "cdna3", "cdna4"),
        default="nvidia",
        help="the banks",
    )


def _recheck(command: argparse.ArgumentParser) -> None:
    command.add_argument("ledger", metavar="LEDGER", help="what `prove` wrote")
    command.add_argument(
        "--timeout", type=_seconds, metavar="S", help="seconds for one query and solver (20)"
    )
    command.add_argument("--workers", type=_positive, metavar="N", help="queries at a time")
    _progress(command)


def _crosscheck(command: argparse.ArgumentParser) -> None:
    command.add_argument("ledger", metavar="LEDGER", help="what `prove` wrote")
    command.add_argument(
        "--target",
        default="cpu",
        choices=("cpu", "ptx", "simulator", "cuda"),
        help="cpu: every element, by compiled code; ptx: every map's kernel, compiled for a GPU "
        "and proven; simulator: small kernels, without a GPU; cuda: the kernels on a GPU (cpu)",
    )
    command.add_argument("--json", metavar="FILE", help="write the report as JSON as well")
    command.add_argument("--junit", metavar="FILE", help="write it as JUnit XML as well")
    command.add_argument(
        "--only", default="", metavar="TEXT", help="the entries whose names contain TEXT"
    )
    command.add_argument(
        "--memory", type=_count, metavar="BYTES", help="bytes that one check may take (1 GiB)"
    )
    command.add_argument(
        "--elements", type=_count, metavar="N", help="elements that one check may look at"
    )
    command.add_argument("--arch", metavar="ARCH", help="what PTX is compiled for (sm_90a)")
    _progress(command)


def _progress(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--progress", action="store_true", help="say how far it is, also where nobody watches"
    )


def _tagged(flag: str) -> Callable[[str], tuple[str, str]]:
    """What turns a flag's value into (flag, value): all claims are in one list, in their order."""
    return lambda value: (flag, value)


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < len(text) < 5 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number from 1 to 9999 is needed; got {text!r}")
    return int(text)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < len(text) < 19 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number from 1 to 10^18 is needed; got {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"a number of seconds is needed; got {text!r}")
    return value
