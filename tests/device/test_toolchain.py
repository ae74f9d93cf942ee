"""PTX without a GPU: which libraries made it, what is kept, and what the errors say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from layout_algebra.axes import laneid
from layout_algebra.device.functions import device_function
from layout_algebra.device.kernels import kernel_of
from layout_algebra.device.ptx_cache import Cache
from layout_algebra.device.toolchain import (
    TARGETS,
    ToolchainError,
    available,
    compile_cuda,
    compile_ptx,
    loaded_libraries,
)
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.notation import R, S

needs_cuda = pytest.mark.skipif(available() is not None, reason=f"no CUDA packages: {available()}")
TILE = TileLayout(S[(8, 3, 5) : (-3, 1, 100 @ laneid)] + R[2:7])
WIDE = TileLayout(S[(4, 4) : (2**33, -1)])


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


# ------------------------------------------------------------------------------- compiling


@needs_cuda
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("layout", "width"), [(TILE, 32), (WIDE, 64)])
def test_every_target(layout: TileLayout, width: int, target: str, cache: Cache):
    kernel = kernel_of(layout, name="stored")
    assert kernel.width == width
    ptx = compile_ptx(kernel, target, cache=cache)
    assert (ptx.entry, ptx.target) == ("stored", target)
    assert re.findall(r"^\.visible \.entry (\w+)\($", ptx.text, re.M) == ["stored"]
    assert f".target {target}\n" in ptx.text
    kinds = re.findall(r"\.param \.(u\d+) .*stored_param_(\d+)", ptx.text)
    wanted = ["u64"] * len(kernel.outputs) + [f"u{width}"]
    assert [kind for kind, _ in kinds] == wanted
    stores = re.findall(r"st\.global\.(\w+)", ptx.text)
    assert [re.sub(r"\D", "", kind) for kind in stores] == [str(width)] * len(kernel.outputs)
    assert "numba" not in ptx.text.lower().replace("based on", "")
    assert len(ptx.text) < 6000  # no division routine, no error handling


@needs_cuda
def test_the_text_does_not_depend_on_what_was_compiled_before(tmp_path: Path):
    kernel = kernel_of(TILE)
    first = compile_ptx(kernel, cache=Cache(tmp_path / "a"))
    compile_ptx(kernel_of(WIDE), cache=Cache(tmp_path / "b"))
    assert compile_ptx(kernel, cache=Cache(tmp_path / "c")) == first


@needs_cuda
def test_device_functions_compile_in_a_users_kernel():
    from numba import cuda

    place = device_function(ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)])), (8, 64))

    def user(out):
        i, j = cuda.grid(2)
        if i < 8 and j < 64:
            out[place(i, j)] = 64 * i + j

    kinds = cuda.types
    text, _ = cuda.compile(
        user, (kinds.CPointer(kinds.uint32),), device=False, abi="numba", cc=(9, 0)
    )
    assert "xor" in text
    assert "call" not in text  # inlined


@needs_cuda
def test_text_that_does_not_compile(cache: Cache):
    with pytest.raises(ToolchainError, match=r"does not compile the text: map\.cu\(1\): error"):
        compile_cuda("int x", "place", cache=cache)


def test_targets():
    with pytest.raises(ToolchainError, match=r"no target 'sm_70'; there is sm_80, sm_90"):
        compile_ptx(kernel_of(TILE), "sm_70")


@pytest.mark.usefixtures("no_cuda_packages")
def test_without_the_packages_one_line_says_what_to_install():
    with pytest.raises(ToolchainError, match=r"^PTX needs the package .*\[cuda\]'$"):
        compile_ptx(kernel_of(TILE))
    with pytest.raises(ToolchainError, match="not installed here"):
        device_function(TILE)


# ------------------------------------------------------------------------------- libraries

TABLE = """
7f00-7f01 r-xp 00000000 fe:00 12 /env/lib/python3.11/site-packages/nvidia/cu13/lib/libnvvm.so.4
7f01-7f02 r--p 00001000 fe:00 12 /env/lib/python3.11/site-packages/nvidia/cu13/lib/libnvvm.so.4
7f02-7f03 r-xp 00000000 fe:00 13 /usr/local/cuda toolkit/lib64/libnvrtc.so.12.4.127
7f03-7f04 r-xp 00000000 fe:00 13 /usr/local/cuda/lib64/libnvrtc-builtins.so.13.5
7f04-7f05 r-xp 00000000 fe:00 14 /env/cuda/bindings/_internal/nvvm.cpython-311-x86_64-linux-gnu.so
7f05-7f06 r-xp 00000000 fe:00 15 /usr/lib/libcuda.so.1
7f06-7f07 rw-p 00000000 00:00 0
7f07-7f08 rw-p 00000000 00:00 0 [heap]
"""


def test_what_counts_as_a_library_of_a_toolkit():
    assert loaded_libraries(TABLE) == (
        "/env/lib/python3.11/site-packages/nvidia/cu13/lib/libnvvm.so.4",
        "/usr/local/cuda toolkit/lib64/libnvrtc.so.12.4.127",
        "/usr/local/cuda/lib64/libnvrtc-builtins.so.13.5",
    )


@needs_cuda
def test_the_libraries_are_the_environments(cache: Cache):
    found = compile_ptx(kernel_of(TILE), cache=cache).libraries
    assert any(Path(library).name.startswith("libnvvm") for library in found)
    assert all("site-packages" in library for library in found)


FOREIGN = """
import ctypes, sys
from layout_algebra.device.kernels import kernel_of
from layout_algebra.device.ptx_cache import Cache
from layout_algebra.device.toolchain import ToolchainError, compile_ptx
from layout_algebra.layouts import TileLayout
from layout_algebra.notation import S
ctypes.CDLL(sys.argv[1])
try:
    compile_ptx(kernel_of(TileLayout(S[8])), cache=Cache(sys.argv[2]))
except ToolchainError as error:
    print(error)
"""


@needs_cuda
def test_a_library_from_elsewhere_is_an_error(tmp_path: Path, cache: Cache):
    """A copy of the runtime outside the environment stands for a system toolkit."""
    found = compile_ptx(kernel_of(TILE), cache=cache).libraries
    runtime = next((Path(one) for one in found if "cudart" in one), None)
    if runtime is None:
        pytest.skip("no runtime library was loaded: nothing to copy")
    foreign = tmp_path / "toolkit" / runtime.name
    foreign.parent.mkdir()
    shutil.copy(runtime, foreign)
    done = subprocess.run(
        [sys.executable, "-c", FOREIGN, str(foreign), str(tmp_path / "other")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(f"{foreign} was loaded, which is not in this environment's")
    assert not list((tmp_path / "other").glob("*"))  # and nothing is kept


@needs_cuda
def test_a_system_toolkit_does_not_change_the_text(tmp_path: Path, cache: Cache):
    """CUDA_HOME names a toolkit; the environment's own libraries are taken all the same."""
    code = (
        "import sys\nfrom tests.device.test_toolchain import TILE\n"
        "from layout_algebra.device.kernels import kernel_of\n"
        "from layout_algebra.device.ptx_cache import Cache\n"
        "from layout_algebra.device.toolchain import compile_ptx\n"
        "sys.stdout.write(compile_ptx(kernel_of(TILE), cache=Cache(sys.argv[1])).text)\n"
    )
    system = {"CUDA_HOME": "/usr/local/cuda", "CUDA_PATH": "/usr/local/cuda"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "other")],
        env={**os.environ, **system},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == compile_ptx(kernel_of(TILE), cache=cache).text


# ------------------------------------------------------------------------------- the cache


def test_keys_tell_source_target_and_versions_apart(cache: Cache):
    keys = {
        cache.key(source, target, versions)
        for source in ("a", "b")
        for target in ("sm_80", "sm_90")
        for versions in ({"x": "1"}, {"x": "2"}, {"x": "1", "y": "1"})
    }
    assert len(keys) == 12
    assert cache.key("a", "b", {"x": "1", "y": "2"}) == cache.key("a", "b", {"y": "2", "x": "1"})


def test_what_was_put_is_found(cache: Cache):
    key = cache.key("a", "sm_80", {})
    assert cache.get(key) is None
    cache.put(key, {"text": "ptx", "libraries": ["x"]})
    assert cache.get(key) == {"text": "ptx", "libraries": ["x"]}
    assert [path.suffix for path in cache.folder.iterdir()] == [".json"]


@pytest.mark.parametrize("damage", ["half", "other key", "changed text", "not an object"])
def test_a_damaged_entry_is_no_entry(cache: Cache, damage: str):
    key = cache.key("a", "sm_80", {})
    cache.put(key, {"text": "ptx"})
    (path,) = cache.folder.iterdir()
    whole = json.loads(path.read_text())
    if damage == "half":
        path.write_text(path.read_text()[:-9])
    elif damage == "other key":
        path.rename(path.with_name("0" * 64 + ".json"))
        key = "0" * 64
    elif damage == "changed text":
        whole["entry"]["text"] = "other"
        path.write_text(json.dumps(whole))
    else:
        path.write_text("[]")
    assert cache.get(key) is None
    cache.put(key, {"text": "again"})
    assert cache.get(key) == {"text": "again"}


def test_a_folder_that_cannot_be_written_is_left_alone(tmp_path: Path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    cache = Cache(blocked / "cache")
    cache.put("k", {"text": "ptx"})
    assert cache.get("k") is None


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("LAYOUT_ALGEBRA_CACHE", str(tmp_path))
    assert Cache.default().folder == tmp_path
    monkeypatch.delenv("LAYOUT_ALGEBRA_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert Cache.default().folder == tmp_path / "x" / "layout_algebra"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert Cache.default().folder == Path.home() / ".cache" / "layout_algebra"


@needs_cuda
def test_the_second_time_nothing_is_compiled(cache: Cache, monkeypatch: pytest.MonkeyPatch):
    kernel = kernel_of(TILE)
    first = compile_ptx(kernel, "sm_90a", cache=cache)
    monkeypatch.setattr("layout_algebra.device.toolchain._from_python", lambda *_: "wrong")
    assert compile_ptx(kernel, "sm_90a", cache=cache) == first
    assert compile_ptx(kernel, "sm_80", cache=cache).text == "wrong"
