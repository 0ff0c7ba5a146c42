// Written by scripts/fit_vector_math.py. Lowest coefficient first; the error is the largest relative one of
// exact arithmetic.
#pragma once

namespace metalloid::ir::math::polynomials {

// e^r = 1 + r + r^2 P(r), |r| <= ln 2 / 2; the error is relative to e^r - 1: 2^-26.1
inline constexpr float exponential[] = {0x1.fffffep-2f, 0x1.5554b2p-3f, 0x1.5556f8p-5f, 0x1.1226d8p-7f,
                                        0x1.6b96f2p-10f};

// 2^r = 1 + r P(r), |r| <= 1/2: 2^-28.3
inline constexpr float exponential_2[] = {0x1.62e430p-1f, 0x1.ebfbdcp-3f,  0x1.c6af7ap-5f,
                                          0x1.3b2ddap-7f, 0x1.5f0976p-10f, 0x1.417284p-13f};

// 10^r = 1 + r P(r), |r| <= log10(2) / 2: 2^-28.5
inline constexpr float exponential_10[] = {0x1.26bb1cp+1f, 0x1.53524ap+1f, 0x1.046f9cp+1f,
                                           0x1.2bda02p+0f, 0x1.156a64p-1f, 0x1.a6387ep-3f};

// log(1 + f) = f - f^2 / 2 + f^3 P(f), sqrt(1/2) <= 1 + f <= sqrt(2): 2^-24.9
inline constexpr float logarithm[] = {0x1.5556d8p-2f, -0x1.000380p-2f, 0x1.98d824p-3f, -0x1.5382a4p-3f,
                                      0x1.3172fap-3f, -0x1.242fd0p-3f, 0x1.645e52p-4f};

// log2(1 + f) = f / ln 2 + f^2 P(f): 2^-25.1
inline constexpr float logarithm_2[] = {-0x1.715472p-1f, 0x1.ec7366p-2f, -0x1.715b7ep-2f, 0x1.26dd48p-2f,
                                        -0x1.e9809ep-3f, 0x1.b94dfap-3f, -0x1.a78030p-3f, 0x1.01ba32p-3f};

// log10(1 + f) = f / ln 10 + f^2 P(f): 2^-24.7
inline constexpr float logarithm_10[] = {-0x1.bcb7aep-3f, 0x1.287b44p-3f, -0x1.bcbe42p-4f, 0x1.63367ap-4f,
                                         -0x1.26edd8p-4f, 0x1.08953cp-4f, -0x1.fa82aep-5f, 0x1.37a0a2p-5f};

// sin r = r + r^3 P(r^2), |r| <= pi / 4: 2^-27.8
inline constexpr float sine[] = {-0x1.555544p-3f, 0x1.1106c6p-7f, -0x1.991c18p-13f};

// cos r = 1 - r^2 / 2 + r^4 P(r^2), |r| <= pi / 4: 2^-32.9
inline constexpr float cosine[] = {0x1.55554ap-5f, -0x1.6c0c26p-10f, 0x1.99e706p-16f};

// asin x = x + x^3 P(x^2), |x| <= 1/2: 2^-27.6
inline constexpr float arc_sine[] = {0x1.5555c8p-3f, 0x1.330204p-4f, 0x1.747bb8p-5f, 0x1.8c3e50p-6f, 0x1.595c60p-5f};

// atan x = x + x^3 P(x^2), |x| <= 1: 2^-25.8
inline constexpr float arc_tangent[] = {-0x1.5554dcp-2f, 0x1.9978ecp-3f, -0x1.230a96p-3f, 0x1.b4dedep-4f,
                                        -0x1.355190p-4f, 0x1.61f140p-5f, -0x1.0c1c26p-6f, 0x1.7eb1a4p-9f};

// log2((1 + s) / (1 - s)) = s (2 / ln 2 + s^2 P(s^2)), |s| <= 0.1716, in double: 2^-37.6
inline constexpr double wide_power_logarithm[] = {0x1.ec709d444e335p-1, 0x1.2777680f0b643p-1, 0x1.a595f3aae616cp-2,
                                                  0x1.5c6a30c5b572dp-2};

// the same, in float: 2^-30.2
inline constexpr float power_logarithm[] = {0x1.ec70d4p-1f, 0x1.274bb4p-1f, 0x1.b96fcap-2f};

}  // namespace metalloid::ir::math::polynomials
