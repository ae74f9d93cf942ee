"""Compiled maps: kernels, their text in several languages, and checks of every element.

    from layout_algebra.device import check, device_function, kernel_source

The only package that imports numba, and only when something is compiled; it imports no solver.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from layout_algebra.device.attached import Attached, Fragment, Shared, fragment, shared
    from layout_algebra.device.checks import check, cost
    from layout_algebra.device.cuda_text import cuda_source, triton_source
    from layout_algebra.device.functions import device_function, function_source
    from layout_algebra.device.kernels import Kernel, kernel_of, kernel_source
    from layout_algebra.device.ptx_cache import Cache
    from layout_algebra.device.results import CheckError, CheckResult, Cost
    from layout_algebra.device.source_text import WidthError
    from layout_algebra.device.toolchain import (
        TARGETS,
        Ptx,
        ToolchainError,
        available,
        compile_cuda,
        compile_ptx,
    )

#: Where each name lives; a module is loaded when one of its names is asked for.
_NAMES = {
    "kernels": ("Kernel", "kernel_of", "kernel_source"),
    "attached": ("Attached", "Fragment", "Shared", "fragment", "shared"),
    "functions": ("device_function", "function_source"),
    "cuda_text": ("cuda_source", "triton_source"),
    "toolchain": ("TARGETS", "Ptx", "ToolchainError", "available", "compile_cuda", "compile_ptx"),
    "ptx_cache": ("Cache",),
    "source_text": ("WidthError",),
    "checks": ("check", "cost"),
    "results": ("CheckError", "CheckResult", "Cost"),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Kernel",
    "kernel_of",
    "kernel_source",
    "device_function",
    "function_source",
    "fragment",
    "shared",
    "Attached",
    "Fragment",
    "Shared",
    "cuda_source",
    "triton_source",
    "TARGETS",
    "Ptx",
    "ToolchainError",
    "available",
    "compile_cuda",
    "compile_ptx",
    "Cache",
    "WidthError",
    "check",
    "cost",
    "CheckError",
    "CheckResult",
    "Cost",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
