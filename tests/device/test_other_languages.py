"""The texts for CUDA C++ and Triton say what the text for Python says.

They are read here, statement by statement, with every result reduced to its word, so that nothing
but Python is needed; where the compilers are installed, the texts go through them too.
"""

from __future__ import annotations

import importlib.util
import random
import re
from pathlib import Path
from typing import Any

import pytest

from layout_algebra.axes import laneid
from layout_algebra.device.cuda_text import cuda_source, triton_source
from layout_algebra.device.kernels import exec_source, kernel_of
from layout_algebra.device.source_text import WidthError
from layout_algebra.device.toolchain import TARGETS, available, compile_cuda
from layout_algebra.errors import CoordinateError
from layout_algebra.layouts import TileLayout
from layout_algebra.notation import R, S
from tests.device.draws import draw_layout, draw_map

LAYOUTS, MAPS = 40, 60


def drawn():
    for number in range(LAYOUTS):
        yield draw_layout(random.Random(f"language {number}"))[0]
    for number in range(MAPS):
        yield draw_map(random.Random(f"language {number}"), guarded=number % 3 == 0)[0]


def carried_out(assignments: list[tuple[str, str]], width: int, i: int) -> dict[str, int]:
    """The names' values after assignments of unsigned words."""
    names = {"i": i}
    for name, expression in assignments:
        names[name] = eval(expression, {}, names) % (1 << width)
    return names


def cuda_assignments(text: str) -> tuple[list[tuple[str, str]], int]:
    body = text.split("{\n", 1)[1].split("}\n", 1)[0]
    found = re.findall(r"^ {4}(?:const unsigned (?:int|long long) )?(\w+) = (.*);$", body, re.M)
    assert len(found) == body.count(";")
    width = 64 if "long long" in text else 32
    plain = [(n, re.sub(r"\b(\d+)u(?:ll)?\b", r"\1", e).replace("/", "//")) for n, e in found]
    return plain, width


def triton_assignments(text: str) -> tuple[list[tuple[str, str]], int]:
    width = 64 if "uint64" in text else 32
    assert f"uint{96 - width}" not in text
    body = text.split("_at(i):\n", 1)[1].split("\n\n", 1)[0]
    body = re.sub(rf"tl\.full\(\(\), (\d+), tl\.uint{width}\)", r"\1", body)
    *lines, last = body.splitlines()
    assignments = [line.strip().split(" = ", 1) for line in lines]
    results = last.strip().removeprefix("return (").removesuffix(")").split(", ")[:-1]
    assignments += [[f"out{k}", name] for k, name in enumerate(results)]
    return [(name, expression) for name, expression in assignments], width


@pytest.mark.parametrize(
    ("write", "read"),
    [(cuda_source, cuda_assignments), (triton_source, triton_assignments)],
    ids=["cuda", "triton"],
)
def test_the_same_numbers(write, read):
    for source in drawn():
        kernel = kernel_of(source)
        place = exec_source(kernel.function, kernel.name)
        assignments, width = read(write(source))
        assert width == kernel.width
        for i in range(kernel.size):
            names = carried_out(assignments, width, i)
            found = tuple(names[f"out{k}"] for k in range(len(kernel.outputs)))
            assert found == place(i), (i, write(source))


def test_wide_words():
    wide = TileLayout(S[(4, 4) : (2**33, -1)])
    assert "unsigned long long *out0" in cuda_source(wide)
    assert "8589934592ull" in cuda_source(wide)
    assert "tl.full((), 8589934592, tl.uint64)" in triton_source(wide)
    for write in (cuda_source, triton_source):
        with pytest.raises(WidthError):
            write(TileLayout(S[2 : 2**64]))
        with pytest.raises(CoordinateError, match="identifier"):
            write(wide, name="two words")


# ------------------------------------------------------------------------------- compilers

SAMPLES = (
    TileLayout(S[(8, 3, 5) : (-3, 1, 100 @ laneid)] + R[2:7]),
    TileLayout(S[(4, 4) : (2**33, -1)]),
)


@pytest.mark.skipif(available() is not None, reason=f"no CUDA packages: {available()}")
@pytest.mark.parametrize("target", TARGETS)
def test_nvrtc(target: str):
    for sample in SAMPLES:
        ptx = compile_cuda(cuda_source(sample, name="sample"), "sample", target)
        assert f".target {target}\n" in ptx.text
        assert re.search(r"^\.visible \.entry sample\(", ptx.text, re.M)
        assert ptx.text.count("st.global") == len(sample.axes)


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
@pytest.mark.filterwarnings("ignore")
def test_triton(tmp_path: Path):
    from triton import compile as compiled  # type: ignore[import-not-found]
    from triton.backends.compiler import GPUTarget  # type: ignore[import-not-found]
    from triton.compiler import ASTSource  # type: ignore[import-not-found]

    for number, sample in enumerate(SAMPLES):
        path = tmp_path / f"sample{number}.py"
        path.write_text(triton_source(sample))
        module: Any = _loaded(path)
        width = kernel_of(sample).width
        kinds = {f"out{k}": f"*u{width}" for k in range(len(sample.axes))}
        made = compiled(
            ASTSource(
                fn=module.place,
                signature={**kinds, "n": f"u{width}", "BLOCK": "constexpr"},
                constexprs={"BLOCK": 128},
            ),
            target=GPUTarget("cuda", 90, 32),
        )
        assert made.asm["ptx"].count("st.global") == len(sample.axes)


def _loaded(path: Path) -> Any:
    spec: Any = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
