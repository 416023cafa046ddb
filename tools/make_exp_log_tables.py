"""Writes kernels_c/exp_log64_tables.h, the tables and constants of the float64 exp and log (docs/exp_log.md):

    python tools/make_exp_log_tables.py > kernels_c/exp_log64_tables.h

The float32 tables of kernels_c/exp_vector.h come from `floats` below: python tools/make_exp_log_tables.py 5 (or 3).
"""

import math
import sys

import mpmath as mp
import numpy as np

mp.mp.prec = 400
LN2 = mp.log(2)


def pair(value: mp.mpf) -> tuple[str, str]:
    """The double nearest to value, and the double nearest to the rest."""
    high = float(value)
    return high.hex(), float(value - mp.mpf(high)).hex()


def cut(value: mp.mpf, bits: int) -> float:
    """value rounded to a double of so many bits."""
    scale = mp.mpf(2) ** (bits - 1 - int(mp.floor(mp.log(abs(value), 2))))
    return float(mp.nint(value * scale) / scale)


def words(value: mp.mpf) -> str:
    """0 < value < 1 as five words of 64 bits, the least first: 256 bits after the point."""
    integer = int(mp.floor(value * mp.mpf(2) ** 256))
    return ", ".join(f"0x{integer >> (64 * i) & (2**64 - 1):016X}" for i in range(5))


def parts(value: mp.mpf, bits: tuple[int, ...]) -> list[str]:
    """value as a sum of doubles, all but the last of the given numbers of bits."""
    result = []
    for b in bits:
        result.append(cut(value, b))
        value -= mp.mpf(result[-1])
    return [v.hex() for v in [*result, float(value)]]


def floats(log2_n: int) -> None:
    """T[i], the float nearest to 2^(i/N), and D[i] = i ln2/N - log T[i], rounded to float."""
    n = 2**log2_n
    t = [np.float32(float(mp.mpf(2) ** (mp.mpf(i) / n))) for i in range(n)]
    d = [np.float32(float(mp.mpf(i) * LN2 / n - mp.log(mp.mpf(float(v))))) for i, v in enumerate(t)]
    print("T:", ", ".join(float(v).hex() for v in t))
    print("D:", ", ".join(float(v).hex() for v in d))
    first = np.float32(float(LN2 / n))
    print("L1, L2:", float(first).hex(), float(np.float32(float(LN2 / n - mp.mpf(float(first))))).hex())


def main() -> None:
    print("#ifndef EXACT_EXP_LOG64_TABLES_H\n#define EXACT_EXP_LOG64_TABLES_H")
    print("/* Written by tools/make_exp_log_tables.py. */\n#include <stdint.h>\n")
    print("/* 2^(i/128) as the sum of two doubles. */\nstatic const double exp_table[128][2] = {")
    for i in range(128):
        high, low = pair(mp.mpf(2) ** (mp.mpf(i) / 128))
        print(f"    {{{high}, {low}}},")
    print("};\n")
    a, b, c = parts(LN2 / 128, (34, 34))
    print(f"static const double exp_l1 = {a}, exp_l2 = {b}, exp_l3 = {c}; /* sum: ln 2 / 128 */")
    a, b, c = parts(LN2, (40, 40))
    print(f"static const double log_l1 = {a}, log_l2 = {b}, log_l3 = {c}; /* sum: ln 2 */\n")
    print("/* For m nearest to i/128, i = 90 + index: c, of 12 bits, near 1/m; -log c as the sum of two doubles. */")
    print("static const double log_table[93][3] = {")
    for i in range(90, 183):
        c = cut(mp.mpf(128) / i, 12)
        high, low = pair(-mp.log(mp.mpf(c)))
        print(f"    {{{c.hex()}, {high}, {low}}},")
    print("};\n")
    print("/* ln 2 = the sum of word[i] * 2^(64 i - 256). */")
    print(f"static const uint64_t ln2_words[5] = {{{words(LN2)}}};\n#endif")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        floats(int(sys.argv[1]))
    else:
        assert math.isclose(float(LN2), math.log(2))
        main()
