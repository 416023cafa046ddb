"""Sets and reads this thread's floating-point control settings, through a C snippet compiled when first used."""

import contextlib
import ctypes
import functools
import os
import shutil
import subprocess
import tempfile

SOURCE = r"""
#include <fenv.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
/* The control bits of MXCSR: rounding, flush-to-zero, denormals-are-zero, exception masks. */
unsigned long get_control(void) { return _mm_getcsr() & 0xFFC0u; }
void set_control(int rounding, int flush) {
  fesetround(rounding == 1 ? FE_UPWARD : rounding == 2 ? FE_DOWNWARD : rounding == 3 ? FE_TOWARDZERO : FE_TONEAREST);
  _mm_setcsr((_mm_getcsr() & ~0x8040u) | (flush ? 0x8040u : 0));
}
#elif defined(__aarch64__)
static unsigned long get(void) { unsigned long v; __asm__ volatile("mrs %0, fpcr" : "=r"(v)); return v; }
unsigned long get_control(void) { return get(); }
void set_control(int rounding, int flush) {
  unsigned long v;
  fesetround(rounding == 1 ? FE_UPWARD : rounding == 2 ? FE_DOWNWARD : rounding == 3 ? FE_TOWARDZERO : FE_TONEAREST);
  v = (get() & ~(1ul << 24)) | (flush ? 1ul << 24 : 0);
  __asm__ volatile("msr fpcr, %0" : : "r"(v));
}
#endif
/* What the settings do to an addition and to a subnormal number. */
float probe(float a, float b) { volatile float x = a, y = b; return x + y; }
"""
NEAREST, UPWARD, DOWNWARD, TOWARD_ZERO = range(4)


@functools.cache
def library():
    compiler = next((c for c in (os.environ.get("CC"), "cc", "gcc", "clang") if c and shutil.which(c)), None)
    assert compiler, "these tests need the C compiler that built the package"
    folder = tempfile.mkdtemp()
    source, output = os.path.join(folder, "fpenv.c"), os.path.join(folder, "fpenv.so")
    with open(source, "w") as file:
        file.write(SOURCE)
    subprocess.run([compiler, "-O1", "-frounding-math", "-shared", "-fPIC", source, "-o", output, "-lm"], check=True)
    loaded = ctypes.CDLL(output)
    shutil.rmtree(folder)
    loaded.get_control.restype = ctypes.c_ulong
    loaded.probe.restype = ctypes.c_float
    loaded.probe.argtypes = [ctypes.c_float, ctypes.c_float]
    return loaded


@contextlib.contextmanager
def control(rounding=NEAREST, flush=False):
    """Runs the block with these settings and checks that it left them alone."""
    lib = library()
    lib.set_control(rounding, flush)
    try:
        before = lib.get_control()
        yield
        after = lib.get_control()
    finally:
        lib.set_control(NEAREST, False)
    assert after == before, f"the caller's floating-point settings were changed: {after:#x}, were {before:#x}"


@contextlib.contextmanager
def restored():
    """Runs the block and then sets the default settings, whatever the block left."""
    lib = library()
    try:
        yield
    finally:
        lib.set_control(NEAREST, False)
