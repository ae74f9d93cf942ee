"""PTX from kernels, without a GPU: numba-cuda with the libraries of its own environment.

    ptx = compile_ptx(kernel_of(layout), "sm_90a")
    ptx.text, ptx.entry, ptx.libraries

A `ToolchainError` says what is missing.  A CUDA toolkit of the system would be picked up silently,
and its answer would depend on the machine: after compiling, the libraries that are really in this
process are read from the system's table of its mappings, and one that lies outside the
environment's site-packages is an error.  What was compiled is kept in a cache keyed by source,
target and versions.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from layout_algebra.device.kernels import Kernel, exec_source
from layout_algebra.device.ptx_cache import Cache
from layout_algebra.errors import LayoutAlgebraError

#: Targets that are compiled for, and what numba-cuda calls them.
TARGETS: Mapping[str, tuple[Any, ...]] = {
    "sm_80": (8, 0),
    "sm_90": (9, 0),
    "sm_90a": (9, 0, "a"),
    "sm_100": (10, 0),
}

#: Distributions whose versions decide what text comes out.
_PACKAGES = ("numba-cuda", "numba", "llvmlite", "cuda-bindings", "nvidia-nvvm", "nvidia-cuda-nvrtc")

#: Libraries of a CUDA toolkit, by the stems of their files' names.
_LIBRARIES = re.compile(
    r"lib(nvvm|nvrtc|nvrtc-builtins|nvJitLink|cudart|cudadevrt)[.\-\d]*(alt)?\.so"
)


class ToolchainError(LayoutAlgebraError, RuntimeError):
    """No compiler, or one that is not the environment's own."""


@dataclass(frozen=True)
class Ptx:
    """A kernel's PTX.

    Attributes:
        text: the PTX, with the entry named as the kernel.
        target: the architecture, as "sm_90a".
        entry: the name of the entry.
        versions: the packages that it was made with.
        libraries: the CUDA libraries that were loaded, inside the environment.
    """

    text: str
    target: str
    entry: str
    versions: dict[str, str] = field(default_factory=dict[str, str])
    libraries: tuple[str, ...] = ()


def compile_ptx(kernel: Kernel, target: str = "sm_90", *, cache: Cache | None = None) -> Ptx:
    """A kernel's PTX for a target, by numba-cuda.

    The entry's parameters are one pointer for each output, then the number of elements.

    Args:
        kernel: from `kernel_of`.
        target: one of `TARGETS`.
        cache: where to keep it; the user's cache by default.

    Raises:
        ToolchainError: an unknown target, no numba-cuda, or a library from outside the environment.
    """

    def make() -> str:
        return _from_python(kernel, target)

    return _kept(kernel.source, kernel.name, target, cache, make)


def compile_cuda(
    text: str, entry: str, target: str = "sm_90", *, cache: Cache | None = None
) -> Ptx:
    """The PTX of a kernel in CUDA C++ (see `cuda_source`), by the environment's NVRTC.

    Args:
        text: the program; it includes nothing.
        entry: the name of its kernel, which is `extern "C"`.
        target, cache: as for `compile_ptx`.

    Raises:
        ToolchainError: as for `compile_ptx`, or a text that does not compile.
    """

    def make() -> str:
        return _from_cuda(text, target)

    return _kept(text, entry, target, cache, make)


def _kept(source: str, name: str, target: str, cache: Cache | None, make: Callable[[], str]) -> Ptx:
    if target not in TARGETS:
        raise ToolchainError(f"no target {target!r}; there is {', '.join(TARGETS)}")
    found = versions()
    kept = Cache.default() if cache is None else cache
    key = kept.key(source, target, found)
    entry = kept.get(key)
    if entry is None:
        entry = {"text": make(), "libraries": list(own_libraries())}
        kept.put(key, entry)
    return Ptx(entry["text"], target, name, dict(found), tuple(entry["libraries"]))


def require() -> None:
    """Raises ToolchainError unless kernels can be compiled here, or run in the simulator."""
    if os.environ.get("NUMBA_ENABLE_CUDASIM") != "1":
        versions()


def available() -> str | None:
    """Why nothing can be compiled here, in one line; None where it can."""
    try:
        versions()
    except ToolchainError as error:
        return str(error)
    return None


@cache
def versions() -> dict[str, str]:
    """The versions of what compiles.

    Raises:
        ToolchainError: a package is missing.
    """
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            raise ToolchainError(
                f"PTX needs the package {name}, which is not installed here: "
                "pip install 'layout-algebra[cuda]'"
            ) from None
    return found


def own_libraries() -> tuple[str, ...]:
    """The CUDA libraries in this process, all of them from the environment.

    Raises:
        ToolchainError: one lies elsewhere; names it.
    """
    places = {Path(sysconfig.get_paths()[kind]).resolve() for kind in ("purelib", "platlib")}
    found = loaded_libraries()
    for library in found:
        if not any(place in Path(library).resolve().parents for place in places):
            raise ToolchainError(
                f"{library} was loaded, which is not in this environment's site-packages: "
                "unset CUDA_HOME and CUDA_PATH, and install 'layout-algebra[cuda]'"
            )
    if not any(re.match("lib(nvvm|nvrtc)", Path(library).name) for library in found):
        raise ToolchainError("neither libnvvm nor libnvrtc is loaded: what compiled is not known")
    return found


def loaded_libraries(table: str | None = None) -> tuple[str, ...]:
    """Paths of the CUDA toolkit's libraries among a process's mappings (this one's by default).

    Raises:
        ToolchainError: a system without /proc, where they cannot be known.
    """
    if table is None:
        try:
            table = Path("/proc/self/maps").read_text()
        except OSError as error:
            raise ToolchainError(
                f"the loaded libraries cannot be read on {sys.platform}: {error}"
            ) from error
    paths = {
        line.split(None, 5)[5] for line in table.splitlines() if line.count(" ") and "/" in line
    }
    return tuple(sorted(path for path in paths if _LIBRARIES.match(Path(path).name)))


def _from_cuda(text: str, target: str) -> str:
    """PTX by NVRTC's own interface: that of cuda.core asks for a driver, and none is needed."""
    bindings: Any = import_module("cuda.bindings.nvrtc")

    def answer(outcome: tuple[Any, ...]) -> Any:
        if outcome[0] != bindings.nvrtcResult.NVRTC_SUCCESS:
            raise ToolchainError(f"NVRTC: {outcome[0].name}")
        return outcome[1] if len(outcome) > 1 else None

    program = answer(bindings.nvrtcCreateProgram(text.encode(), b"map.cu", 0, [], []))
    try:
        options = [f"--gpu-architecture={target.replace('sm_', 'compute_')}".encode()]
        (outcome,) = bindings.nvrtcCompileProgram(program, len(options), options)
        if outcome != bindings.nvrtcResult.NVRTC_SUCCESS:
            log = b" " * answer(bindings.nvrtcGetProgramLogSize(program))
            answer(bindings.nvrtcGetProgramLog(program, log))
            said = log.decode().rstrip("\0 \n")
            raise ToolchainError(f"NVRTC does not compile the text: {said}")
        ptx = b" " * answer(bindings.nvrtcGetPTXSize(program))
        answer(bindings.nvrtcGetPTX(program, ptx))
    finally:
        bindings.nvrtcDestroyProgram(program)
    return ptx.decode().rstrip("\0")


def _from_python(kernel: Kernel, target: str) -> str:
    from numba import cuda

    kinds: Any = cuda.types  # type: ignore[attr-defined]
    word = kinds.uint32 if kernel.width == 32 else kinds.uint64
    names = {"cuda": cuda, "uint32": kinds.uint32, "uint64": kinds.uint64}
    function = exec_source(kernel.source, kernel.name, names)
    signature = (*(kinds.CPointer(word) for _ in kernel.outputs), word)
    compiled: Any = cuda.compile  # type: ignore[attr-defined]
    text, _ = compiled(
        function, signature, device=False, abi="numba", cc=TARGETS[target], output="ptx"
    )
    return _renamed(text, kernel.name)


def _renamed(text: str, name: str) -> str:
    """The text with its entry called by the kernel's name: numba's own name counts compilations,
    so that one source would give a new text each time."""
    entries = re.findall(r"^\.visible \.entry ([\w$]+)\(", text, re.MULTILINE)
    if len(entries) != 1:
        raise ToolchainError(f"one entry was expected in the PTX; there are {len(entries)}")
    # parameters begin with the entry's name; numba's own variable ends with it
    mangled = entries[0].removeprefix("_ZN")
    text = re.sub(rf"[\w$]*NumbaEnv{re.escape(mangled)}", f"{name}_environment", text)
    return text.replace(entries[0], name)
