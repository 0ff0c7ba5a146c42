#!/usr/bin/env python3
"""Writes src/stdlib/include/metalloid/special_function_tables.h: Chebyshev series of special functions, for float.

Each entry is a smooth factor of a function on an interval that a variable t maps to [-1, 1]; the header
metalloid/special_functions.h says how the factor makes the function. Series are interpolated at Chebyshev points with
40 digits (mpmath) and cut where the rest is below a quarter of a unit in the last place of the largest value.

Usage: scripts/fit_special_functions.py  (needs mpmath; rerun after changing an entry)
"""

import pathlib

from mpmath import mp, mpf

mp.dps = 40
points = 64


TOLERANCE = mpf(2) ** -26


def chebyshev_series(function, tolerance=TOLERANCE):
    """Coefficients c with sum c[k] T_k(t), c[0] already halved."""
    nodes = [mp.cos(mp.pi * (i + mpf(1) / 2) / points) for i in range(points)]
    values = [function(t) for t in nodes]
    largest = max(abs(value) for value in values)
    series = []
    for k in range(points):
        total = sum(value * mp.cos(mp.pi * k * (i + mpf(1) / 2) / points) for i, value in enumerate(values))
        series.append(total * (1 if k == 0 else 2) / points)
    while len(series) > 1 and sum(abs(c) for c in series[len(series) - 1 :]) < tolerance * largest / 4:
        series.pop()
    assert len(series) < points - 20, "not smooth enough for one interval"
    return series


def on(low, high, function):
    """The function of x in [low, high] as a function of t in [-1, 1]."""
    return lambda t: function((mpf(high) - mpf(low)) * (t + 1) / 2 + mpf(low))


def erf_inverse_by_w(w):
    """erfinv(y) / y where w = -log(1 - y^2)."""
    if w == 0:
        return mp.sqrt(mp.pi) / 2
    with mp.workdps(60):
        y = mp.sqrt(-mp.expm1(-w))
        tail = mp.exp(-w) / (1 + y)  # 1 - y
        # Newton on log erfc, which is nearly a parabola.
        x = mp.sqrt(w)
        for _ in range(60):
            value = mp.erfc(x)
            step = (mp.log(value) - mp.log(tail)) * value * mp.sqrt(mp.pi) / 2 * mp.exp(x * x)
            x += step
            if abs(step) < mpf(10) ** -50:
                break
        return x / y


def hankel(order, t, odd):
    """P and (x / 8) Q of J = sqrt(2 / (pi x)) (P cos(chi) - Q sin(chi)), t in [-1, 1] for z = (8 / x)^2 in [0, 1]."""
    z = (t + 1) / 2
    if z < mpf(10) ** -12:
        mu = 4 * order * order
        return mpf(mu - 1) / 64 if odd else mpf(1)
    x = 8 / mp.sqrt(z)
    chi = x - (2 * order + 1) * mp.pi / 4
    scale = mp.sqrt(mp.pi * x / 2)
    j, y = mp.besselj(order, x), mp.bessely(order, x)
    if odd:
        return scale * (y * mp.cos(chi) - j * mp.sin(chi)) * x / 8
    return scale * (j * mp.cos(chi) + y * mp.sin(chi))


def y0_regular(z):
    x = mp.sqrt(z)
    if x < mpf(10) ** -15:
        return 2 / mp.pi * (mp.euler - mp.log(2))
    return mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x)


def y1_regular(z):
    x = mp.sqrt(z if z > mpf(10) ** -20 else mpf(10) ** -20)
    return (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x


def over_x(function):
    def divided(z):
        x = mp.sqrt(z if z > mpf(10) ** -30 else mpf(10) ** -30)
        return function(x) / x

    return divided


def large_argument(low, function):
    """f(x) sqrt(x) as a function of t, low / x = (t + 1) / 2."""

    def of_t(t):
        x = 2 * mpf(low) / max(t + 1, mpf(10) ** -6)
        return function(x) * mp.sqrt(x)

    return of_t


def k0_regular(z):
    x = mp.sqrt(z if z > mpf(10) ** -30 else mpf(10) ** -30)
    return mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x)


def k1_regular(z):
    x = mp.sqrt(z if z > mpf(10) ** -20 else mpf(10) ** -20)
    return x * (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x))


def log_gamma_factor(x):
    near = mpf(10) ** -12
    if abs(x - 1) < near or abs(x - 2) < near:
        x += 2 * near
    return mp.loggamma(x) / ((x - 1) * (x - 2))


def erfcx_factor(t):
    """(1 + 2 x) erfcx(x), t = (x - 4) / (x + 4)."""
    if 1 - t < mpf(10) ** -8:
        return 2 / mp.sqrt(mp.pi)
    x = 4 * (1 + t) / (1 - t)
    if x > 1000:
        inverse = 1 / (x * x)
        erfcx = (1 - inverse / 2 + 3 * inverse**2 / 4 - 15 * inverse**3 / 8) / (x * mp.sqrt(mp.pi))
    else:
        erfcx = mp.exp(x * x) * mp.erfc(x)
    return (1 + 2 * x) * erfcx


tables = {
    "erf_small": ("erf(x) / x, x^2 in [0, 1]", on(0, 1, over_x(mp.erf))),
    "erfcx_all": ("(1 + 2 x) erfcx(x), t = (x - 4) / (x + 4), x >= 0", erfcx_factor),
    "erfinv_centre": ("erfinv(y) / y, w = -log(1 - y^2) in [0, 5]", on(0, 5, erf_inverse_by_w)),
    "erfinv_tail": ("erfinv(y) / y, sqrt(w) in [sqrt(5), 4.2]", on(mp.sqrt(5), 4.2, lambda r: erf_inverse_by_w(r * r))),
    "log_gamma_centre": ("log_gamma(x) / ((x - 1) (x - 2)), x in [0.5, 3]", on(0.5, 3, log_gamma_factor)),
    "gamma_centre": ("gamma(x), x in [1, 2]", on(1, 2, mp.gamma)),
    "j0_small": ("J0(x), x^2 in [0, 64]", on(0, 64, lambda z: mp.besselj(0, mp.sqrt(z)))),
    "j1_small": ("J1(x) / x, x^2 in [0, 64]", on(0, 64, over_x(lambda x: mp.besselj(1, x)))),
    "y0_small": ("Y0(x) - 2/pi ln(x) J0(x), x^2 in [0, 64]", on(0, 64, y0_regular)),
    "y1_small": ("(Y1(x) - 2/pi (ln(x) J1(x) - 1/x)) / x, x^2 in [0, 64]", on(0, 64, y1_regular)),
    "hankel_p0": ("P of order 0, (8/x)^2 in [0, 1]", lambda t: hankel(0, t, False)),
    "hankel_q0": ("x/8 Q of order 0, (8/x)^2 in [0, 1]", lambda t: hankel(0, t, True)),
    "hankel_p1": ("P of order 1, (8/x)^2 in [0, 1]", lambda t: hankel(1, t, False)),
    "hankel_q1": ("x/8 Q of order 1, (8/x)^2 in [0, 1]", lambda t: hankel(1, t, True)),
    "i0_small": ("exp(-x) I0(x), x in [0, 6]", on(0, 6, lambda x: mp.exp(-x) * mp.besseli(0, x))),
    "i1_small": ("exp(-x) I1(x) / x, x in [0, 6]", on(0, 6, lambda x: mp.exp(-x) * (mp.besseli(1, x) / x if x else 0.5))),
    "i0_large": ("sqrt(x) exp(-x) I0(x), 6/x in [0, 1]", large_argument(6, lambda x: mp.exp(-x) * mp.besseli(0, x))),
    "i1_large": ("sqrt(x) exp(-x) I1(x), 6/x in [0, 1]", large_argument(6, lambda x: mp.exp(-x) * mp.besseli(1, x))),
    "k0_small": ("K0(x) + ln(x/2) I0(x), x^2 in [0, 4]", on(0, 4, k0_regular)),
    "k1_small": ("x (K1(x) - ln(x/2) I1(x)), x^2 in [0, 4]", on(0, 4, k1_regular)),
    "k0_large": ("sqrt(x) exp(x) K0(x), 2/x in [0, 1]", large_argument(2, lambda x: mp.exp(x) * mp.besselk(0, x))),
    "k1_large": ("sqrt(x) exp(x) K1(x), 2/x in [0, 1]", large_argument(2, lambda x: mp.exp(x) * mp.besselk(1, x))),
}


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    lines = [
        "// Chebyshev series of smooth factors of special functions. Written by scripts/fit_special_functions.py.",
        "#ifndef METALLOID_SPECIAL_FUNCTION_TABLES_H",
        "#define METALLOID_SPECIAL_FUNCTION_TABLES_H",
        "",
        "namespace __metalloid {",
        "namespace series {",
        "",
    ]
    for name, (meaning, function) in tables.items():
        numbers = [mp.nstr(c, 10) for c in chebyshev_series(function)]
        numbers = [number if "." in number or "e" in number else number + ".0" for number in numbers]
        lines.append(f"// {meaning}")
        lines.append(f"constant constexpr float {name}[{len(numbers)}] = {{")
        for start in range(0, len(numbers), 6):
            lines.append("    " + ", ".join(f"{number}f" for number in numbers[start : start + 6]) + ",")
        lines += ["};", ""]
        print(name, len(numbers))
    lines += ["}  // namespace series", "}  // namespace __metalloid", "", "#endif", ""]
    target = root / "src/stdlib/include/metalloid/special_function_tables.h"
    target.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
