#!/usr/bin/env python3
"""Writes src/ir/math/polynomials.h: the polynomials of the vector math functions.

Each is the best one of its degree by the largest error relative to the function it is part of (Lawson's algorithm:
least squares whose weights grow where the error is large). Its coefficients are rounded to float one by one, lowest
first, and what is left is fitted again, so that the next ones make up for the rounding.

Usage: scripts/fit_vector_math.py  (needs mpmath and NumPy; rerun after changing an entry)
"""

import pathlib

import numpy as np
from mpmath import mp, mpf

mp.dps = 40
sqrt_half, sqrt_two = float(mp.sqrt(0.5)), float(mp.sqrt(2))


def lawson(columns, values, weights):
    """The coefficients whose largest weighted error is least, and that error."""
    share = np.ones(len(values))
    best, least = None, np.inf
    scale = np.abs(columns).max(axis=0)
    for _ in range(300):
        w = np.sqrt(share) * weights
        found = np.linalg.lstsq(columns / scale * w[:, None], values * w, rcond=None)[0] / scale
        error = np.abs((columns @ found - values) * weights)
        if error.max() < least:
            best, least = found, error.max()
        share *= error / error.max() + 1e-6
        share /= share.mean()
    return best, least


def fit(function, relative, low, high, degree, rounded=np.float32):
    """Polynomial of `degree` near function(t); relative(t) is by what an error counts in the whole."""
    nodes = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(801) + 0.5) / 801)
    values = np.array([float(function(mpf(t))) for t in nodes])
    weights = np.array([float(relative(mpf(t))) for t in nodes])
    rest, done = values.copy(), []
    for k in range(degree + 1):
        columns = np.stack([nodes**j for j in range(k, degree + 1)], axis=1)
        found, _ = lawson(columns, rest, weights)
        done.append(float(rounded(found[0])))
        rest = rest - done[-1] * nodes**k
    return done, np.abs(rest * weights).max()


def exponential_tail(t):  # (e^t - 1 - t) / t^2
    return mp.nsum(lambda j: t ** int(j) / mp.factorial(int(j) + 2), [0, 25])


def odd_tail(function):
    """(f(x) - x) / x^3 of an odd function f as a function of x^2."""

    def tail(square):
        x = mp.sqrt(square)
        with mp.workdps(80):
            return (function(x) - x) / (x * square)

    return tail


def sine_tail(square):
    return odd_tail(mp.sin)(square)


def cosine_tail(square):  # (cos x - 1 + x^2 / 2) / x^4
    with mp.workdps(80):
        return (mp.cos(mp.sqrt(square)) - 1 + square / 2) / square**2


def logarithm_tail(f):  # (log(1 + f) - f + f^2 / 2) / f^3
    with mp.workdps(80):
        return (mp.log1p(f) - f + f * f / 2) / f**3


def scaled_logarithm_tail(base):  # (log(1 + f) - f) / f^2 / log base, for f / log base rounded to float
    def tail(f):
        with mp.workdps(80):
            return (mp.log1p(f) / mp.log(base) - f * mpf(float(np.float32(float(1 / mp.log(base)))))) / f**2

    return tail


def power_tail(square):  # (log2((1 + s) / (1 - s)) / s - 2 / ln 2) / s^2
    s = mp.sqrt(square)
    with mp.workdps(80):
        return (mp.log((1 + s) / (1 - s)) / mp.log(2) / s - 2 / mp.log(2)) / square


def base_tail(base):  # (base^r - 1) / r
    def tail(r):
        with mp.workdps(80):
            return (mpf(base) ** r - 1) / r

    return tail


quarter_turn = (3.15 / 4) ** 2
polynomials = [
    ("exponential", "e^r = 1 + r + r^2 P(r), |r| <= ln 2 / 2; the error is relative to e^r - 1",
     exponential_tail, lambda r: r * r / abs(mp.expm1(r)), -0.3475, 0.3475, 4, np.float32),
    ("exponential_2", "2^r = 1 + r P(r), |r| <= 1/2",
     base_tail(2), lambda r: abs(r) / mpf(2) ** r, -0.5005, 0.5005, 5, np.float32),
    ("exponential_10", "10^r = 1 + r P(r), |r| <= log10(2) / 2",
     base_tail(10), lambda r: abs(r) / mpf(10) ** r, -0.1508, 0.1508, 5, np.float32),
    ("logarithm", "log(1 + f) = f - f^2 / 2 + f^3 P(f), sqrt(1/2) <= 1 + f <= sqrt(2)",
     logarithm_tail, lambda f: abs(f**3 / mp.log1p(f)), sqrt_half - 1, sqrt_two - 1, 6, np.float32),
    ("logarithm_2", "log2(1 + f) = f / ln 2 + f^2 P(f)",
     scaled_logarithm_tail(2), lambda f: abs(f * f / mp.log1p(f) * mp.log(2)), sqrt_half - 1, sqrt_two - 1, 7, np.float32),
    ("logarithm_10", "log10(1 + f) = f / ln 10 + f^2 P(f)",
     scaled_logarithm_tail(10), lambda f: abs(f * f / mp.log1p(f) * mp.log(10)), sqrt_half - 1, sqrt_two - 1, 7, np.float32),
    ("sine", "sin r = r + r^3 P(r^2), |r| <= pi / 4",
     sine_tail, lambda z: mp.sqrt(z) ** 3 / mp.sin(mp.sqrt(z)), 0, quarter_turn, 2, np.float32),
    ("cosine", "cos r = 1 - r^2 / 2 + r^4 P(r^2), |r| <= pi / 4",
     cosine_tail, lambda z: z * z / mp.cos(mp.sqrt(z)), 0, quarter_turn, 2, np.float32),
    ("arc_sine", "asin x = x + x^3 P(x^2), |x| <= 1/2",
     odd_tail(mp.asin), lambda z: mp.sqrt(z) ** 3 / mp.asin(mp.sqrt(z)), 0, 0.25, 4, np.float32),
    ("arc_tangent", "atan x = x + x^3 P(x^2), |x| <= 1",
     odd_tail(mp.atan), lambda z: mp.sqrt(z) ** 3 / mp.atan(mp.sqrt(z)), 0, 1, 7, np.float32),
    ("wide_power_logarithm", "log2((1 + s) / (1 - s)) = s (2 / ln 2 + s^2 P(s^2)), |s| <= 0.1716, in double",
     power_tail, lambda z: z * mp.log(2) / 2, 0, 0.1717**2, 3, np.float64),
    ("power_logarithm", "the same, in float",
     power_tail, lambda z: z * mp.log(2) / 2, 0, 0.1717**2, 2, np.float32),
]  # fmt: skip


def main():
    lines = [
        "// Written by scripts/fit_vector_math.py. Lowest coefficient first; the error is the largest relative one of",
        "// exact arithmetic.",
        "#pragma once",
        "",
        "namespace metalloid::ir::math::polynomials {",
        "",
    ]
    for name, meaning, function, relative, low, high, degree, rounded in polynomials:
        coefficients, error = fit(function, relative, low, high, degree, rounded)
        lines.append(f"// {meaning}: 2^{np.log2(error):.1f}")
        kind = "f" if rounded is np.float32 else ""
        numbers = ", ".join(c.hex().replace("0000000p", "p") + kind for c in coefficients)
        element = "float" if kind else "double"
        lines += [f"inline constexpr {element} {name}[] = {{{numbers}}};", ""]
        print(f"{name}: degree {degree}, error 2^{np.log2(error):.2f}")
    lines.append("}  // namespace metalloid::ir::math::polynomials")
    folder = pathlib.Path(__file__).resolve().parent.parent / "src/ir/math"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "polynomials.h").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
