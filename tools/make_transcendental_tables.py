"""Writes kernels_c/transcendental_tables.h, the coefficients and constants of docs/transcendental.md:

    python tools/make_transcendental_tables.py > kernels_c/transcendental_tables.h    (then clang-format)

Polynomials and the rational function are fitted at Chebyshev points at 500 bits, with the least square of the relative error;
the relative errors printed in the comments are those of the fit, before the coefficients are rounded to double.
"""

import mpmath as mp

mp.mp.prec = 500
ERF_END = mp.mpf("3.95")


def points(end: mp.mpf, count: int) -> list[mp.mpf]:
    """Chebyshev points of [0, end]."""
    return [end * (1 - mp.cos(mp.pi * (k + mp.mpf("0.5")) / count)) / 2 for k in range(count)]


def chebyshev(degree: int, u: mp.mpf) -> list[mp.mpf]:
    values = [mp.mpf(1), u]
    while len(values) <= degree:
        values.append(2 * u * values[-1] - values[-2])
    return values[: degree + 1]


def powers(coefficients: list[mp.mpf], end: mp.mpf) -> list[mp.mpf]:
    """Coefficients of 1, z, z^2 ... of a sum of Chebyshev polynomials of 2 z / end - 1."""
    rows = [[mp.mpf(1)], [mp.mpf(-1), 2 / end]]
    while len(rows) < len(coefficients):
        row = [mp.mpf(0)] * (len(rows) + 1)
        for i, v in enumerate(rows[-1]):
            row[i] -= 2 * v
            row[i + 1] += 4 / end * v
        for i, v in enumerate(rows[-2]):
            row[i] -= v
        rows.append(row)
    return [mp.fsum(c * row[i] for c, row in zip(coefficients, rows, strict=True) if i < len(row)) for i in range(len(rows))]


def fit(function, end: mp.mpf, upper: int, lower: int = 0, weight=None) -> tuple[list[mp.mpf], list[mp.mpf], mp.mpf]:
    """function(z) on [0, end] as N(z) / D(z), of degrees upper and lower; the largest relative error at the points.

    Least squares of weight(z) (N - f D), the weight divided by the D of the round before; D(0) is 1 in the end.
    """
    unknown = upper + lower + 1
    z = points(end, 3 * unknown)
    f = [function(v) for v in z]
    w = [weight(v) if weight else 1 / y for v, y in zip(z, f, strict=True)]
    basis = [chebyshev(max(upper, lower), 2 * v / end - 1) for v in z]
    below = [mp.mpf(1)] * len(z)
    for _ in range(6 if lower else 1):
        matrix, right = mp.matrix(len(z), unknown), mp.matrix(len(z), 1)
        for k, row in enumerate(basis):
            scale = w[k] / below[k]
            for i in range(upper + 1):
                matrix[k, i] = row[i] * scale
            for i in range(1, lower + 1):
                matrix[k, upper + i] = -f[k] * row[i] * scale
            right[k] = f[k] * scale
        solved = list(mp.qr_solve(matrix, right)[0])
        n, d = solved[: upper + 1], [mp.mpf(1), *solved[upper + 1 :]]
        below = [mp.fsum(c * v for c, v in zip(d, row, strict=False)) for row in basis]
    above = [mp.fsum(c * v for c, v in zip(n, row, strict=False)) for row in basis]
    error = max(abs((a / b - y) * v) for a, b, y, v in zip(above, below, f, w, strict=True))
    n, d = powers(n, end), powers(d, end) if lower else [mp.mpf(1)]
    return [v / d[0] for v in n], [v / d[0] for v in d], error


def cut(value: mp.mpf, bits: int) -> mp.mpf:
    """value rounded to so many bits."""
    scale = mp.mpf(2) ** (bits - 1 - int(mp.floor(mp.log(abs(value), 2))))
    return mp.nint(value * scale) / scale


def array(name: str, values: list[mp.mpf]) -> None:
    print(f"static const double {name}[{len(values)}] = {{{', '.join(float(v).hex() for v in values)}}};")


def over_root(function, least: mp.mpf):
    """z -> function(sqrt z) / sqrt z; least: its value at 0."""
    return lambda z: function(mp.sqrt(z)) / mp.sqrt(z) if z else least


def main() -> None:
    print("#ifndef EXACT_TRANSCENDENTAL_TABLES_H\n#define EXACT_TRANSCENDENTAL_TABLES_H")
    print("/* Written by tools/make_transcendental_tables.py. Coefficients of 1, z, z^2 ... */\n#include <stdint.h>\n")
    n, d, error = fit(over_root(mp.erf, 2 / mp.sqrt(mp.pi)), ERF_END**2, 9, 10)
    print(f"/* erf x = x N(x^2) / D(x^2) for |x| <= 3.95; relative error 2^{mp.nstr(mp.log(error, 2), 3)}. */")
    array("exact_erf_n", n)
    array("exact_erf_d", d)
    n, _, error = fit(over_root(mp.atanh, mp.mpf(1)), mp.mpf(1) / 9, 10)
    print(f"\n/* log(1 + t) = s P(s^2), s = t / (2 + t) <= 1/3; relative error 2^{mp.nstr(mp.log(error, 2), 3)}. */")
    array("exact_log1p_p", [2 * v for v in n])
    end = (mp.pi / 4 + mp.mpf(2) ** -20) ** 2

    def sine(z):
        return (over_root(mp.sin, mp.mpf(1))(z) - 1) / z

    def cosine(z):
        return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2

    n, _, error = fit(sine, end, 5, weight=lambda z: z / over_root(mp.sin, mp.mpf(1))(z))
    print(f"\n/* sin r = r + r^3 S(r^2) for |r| <= pi/4; relative error 2^{mp.nstr(mp.log(error, 2), 3)}. */")
    array("exact_sin_s", n)
    n, _, error = fit(cosine, end, 5, weight=lambda z: z**2 / mp.cos(mp.sqrt(z)))
    print(f"\n/* cos r = 1 - r^2/2 + r^4 C(r^2) there; relative error 2^{mp.nstr(mp.log(error, 2), 3)}. */")
    array("exact_cos_c", n)
    half_pi = mp.pi / 2
    first = cut(half_pi, 33)
    second = cut(half_pi - first, 33)
    print("\n/* pi/2 as a sum; the first two have 33 bits. */")
    array("exact_half_pi", [first, second, half_pi - first - second])
    fraction = int(mp.floor(2 / mp.pi * mp.mpf(2) ** 320))
    words = [0, *(fraction >> (64 * i) & (2**64 - 1) for i in reversed(range(5)))]
    print("\n/* 2/pi: 64 bits before the point, 320 after it. */")
    print(f"static const uint64_t exact_two_over_pi[6] = {{{', '.join(f'0x{w:016X}' for w in words)}}};")
    print("#endif")


if __name__ == "__main__":
    main()
