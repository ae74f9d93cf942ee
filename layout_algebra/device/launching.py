"""One GPU: arrays on it, and PTX text launched as it is.

    gpu = Gpu()                               # UnavailableError where there is none
    out = gpu.zeros(1 << 20, "uint32")
    seconds = gpu.launch(ptx.text, ptx.entry, 1 << 20, [out, np.uint32(1 << 20)])
    gpu.fetched(out)                          # a NumPy array

The text that is given is assembled as it is, by the assembler of the environment, and what comes
out is launched.  Both are cuda.core's, which is loaded when a GPU is asked for; no compiler is
involved.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_algebra.device.errors import LaunchError, UnavailableError
from layout_algebra.device.toolchain import TARGETS, available

#: Threads of a block.
BLOCK = 256


@dataclass(frozen=True)
class DeviceArray:
    """An array in the GPU's memory."""

    buffer: Any
    dtype: np.dtype[Any]
    count: int


class Gpu:
    """The first GPU of this machine.

    Attributes:
        name: as the driver has it.
        arch: the architecture, of those that PTX is made for, that suits it best.
        capability: its compute capability.
    """

    def __init__(self) -> None:
        missing = available()
        if missing is not None:
            raise UnavailableError(missing)
        try:
            self._core: Any = _core()
            self._device: Any = self._core.Device()
            self._device.set_current()
            major, minor = self._device.compute_capability
        except Exception as error:  # the driver's own errors have many types
            said = " ".join(str(error).split())
            raise UnavailableError(f"there is no GPU to be used here: {said}") from error
        self.capability: tuple[int, int] = (int(major), int(minor))
        self.name = str(self._device.name)
        self.arch = arch_of(self.capability)
        self._stream: Any = self._device.create_stream()
        self._kernels: dict[tuple[str, str], Any] = {}

    def tools(self) -> dict[str, str]:
        """What is used, by name."""
        packages = ("numba", "numba-cuda", "cuda-core", "cuda-bindings", "numpy")
        versions = {name: metadata.version(name) for name in packages}
        capability = ".".join(map(str, self.capability))
        return {"gpu": f"{self.name} ({capability})", "arch": self.arch, **versions}

    def zeros(self, count: int, dtype: str) -> DeviceArray:
        """An array of zeros."""
        return self.put(np.zeros(count, dtype=dtype))

    def put(self, values: NDArray[Any]) -> DeviceArray:
        """A copy of an array on the GPU.

        Raises:
            LaunchError: there is not enough memory.
        """
        flat = np.ascontiguousarray(values).reshape(-1)
        try:
            buffer = self._device.allocate(max(flat.nbytes, 1), stream=self._stream)
            staged, view = self._pinned(buffer.size)
            view[: flat.nbytes] = flat.view(np.uint8)
            staged.copy_to(buffer, stream=self._stream)
            self._stream.sync()
        except Exception as error:  # as above
            raise _failed(error) from error
        return DeviceArray(buffer, flat.dtype, flat.size)

    def fetched(self, array: DeviceArray) -> NDArray[Any]:
        """What is in an array now."""
        try:
            staged, view = self._pinned(array.buffer.size)
            array.buffer.copy_to(staged, stream=self._stream)
            self._stream.sync()
        except Exception as error:  # as above
            raise _failed(error) from error
        return view[: array.count * array.dtype.itemsize].copy().view(array.dtype)

    def launch(
        self, ptx: str, entry: str, threads: int, arguments: Sequence[Any], block: int = BLOCK
    ) -> float:
        """Run a kernel, and wait for it; the seconds that it took.

        Args:
            ptx: the text.
            entry: the kernel's name in it.
            threads: at least so many are run, in whole blocks.
            arguments: arrays of this GPU, and NumPy scalars of the parameters' types.
            block: threads of a block.

        Raises:
            LaunchError: the driver refuses it.
        """
        given = [a.buffer if isinstance(a, DeviceArray) else a for a in arguments]
        try:
            kernel = self._kernel(ptx, entry)
            config = self._core.LaunchConfig(grid=-(-threads // block), block=block)
            self._stream.sync()
            start = perf_counter()
            self._core.launch(self._stream, config, kernel, *given)
            self._stream.sync()
        except Exception as error:  # as above
            raise _failed(error) from error
        return perf_counter() - start

    def _kernel(self, ptx: str, entry: str) -> Any:
        if (ptx, entry) not in self._kernels:
            text = self._core.ObjectCode.from_ptx(ptx.encode())  # a str would be a file's name
            # by the environment's assembler: a driver may be older than the text's version of PTX
            options = self._core.LinkerOptions(arch=self.arch)
            code = self._core.Linker(text, options=options).link("cubin")
            self._kernels[ptx, entry] = code.get_kernel(entry)
        return self._kernels[ptx, entry]

    def _pinned(self, size: int) -> tuple[Any, NDArray[np.uint8]]:
        """Memory of the host that the GPU copies from and to, and a view of it."""
        buffer = self._core.LegacyPinnedMemoryResource().allocate(size, stream=self._stream)
        held = (ctypes.c_uint8 * size).from_address(int(buffer.handle))
        return buffer, np.ctypeslib.as_array(held)


def _core() -> Any:
    import cuda.core  # type: ignore[import-not-found]

    return cuda.core


def arch_of(capability: tuple[int, int]) -> str:
    """The newest architecture whose PTX runs on a GPU of this capability.

    Raises:
        UnavailableError: it is older than all of them.
    """
    fitting = {
        name: found[:2]
        for name, found in TARGETS.items()
        if found[:2] == capability or (len(found) == 2 and found[:2] < capability)
    }
    if not fitting:
        has, needs = (
            ".".join(map(str, one))
            for one in (capability, min(found[:2] for found in TARGETS.values()))
        )
        raise UnavailableError(f"the GPU has capability {has}; kernels need {needs} or newer")
    return max(fitting, key=lambda name: (fitting[name], name))


def _failed(error: Exception) -> LaunchError:
    return LaunchError(f"the GPU: {type(error).__name__}: {' '.join(str(error).split())}")
