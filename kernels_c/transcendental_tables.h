#ifndef EXACT_TRANSCENDENTAL_TABLES_H
#define EXACT_TRANSCENDENTAL_TABLES_H
/* Written by tools/make_transcendental_tables.py. Coefficients of 1, z, z^2 ... */
#include <stdint.h>

/* erf x = x N(x^2) / D(x^2) for |x| <= 3.95; relative error 2^-54.0. */
static const double exact_erf_n[10] = {
    0x1.20dd750429b6dp+0,  0x1.a0c8fcc8a9582p-3,  0x1.f8b03bc8d891cp-5,  0x1.744b7a076b4adp-8,  0x1.66fe859b1f34dp-11,
    0x1.3d4c79dc7f725p-15, 0x1.3574c3b4808a9p-19, 0x1.300a51a6f684bp-24, 0x1.104a672d5b0d4p-29, 0x1.caad4d0d85fdep-37};
static const double exact_erf_d[11] = {0x1.0000000000000p+0,  0x1.07021a3a20fa6p-1,  0x1.01b1d9f318f2ap-3,
                                       0x1.3e23ab75a887ap-6,  0x1.12f21b1334fcap-9,  0x1.5cac42ec8de6cp-13,
                                       0x1.4914e23d492e3p-17, 0x1.c7203bef98a7bp-22, 0x1.b0fe8ad072c60p-27,
                                       0x1.d3466a3ac80d2p-33, 0x1.835d2afb09219p-42};

/* log(1 + t) = s P(s^2), s = t / (2 + t) <= 1/3; relative error 2^-59.7. */
static const double exact_log1p_p[11] = {0x1.0000000000000p+1, 0x1.5555555555526p-1, 0x1.99999999a1d02p-2, 0x1.2492492016dbbp-2,
                                         0x1.c71c7448047ebp-3, 0x1.745caf267da23p-3, 0x1.3b1e320f77c46p-3, 0x1.1063f428f6a37p-3,
                                         0x1.f00d18cf43ce3p-4, 0x1.54e4835dacef9p-4, 0x1.5d22c73671ac5p-3};

/* sin r = r + r^3 S(r^2) for |r| <= pi/4; relative error 2^-57.9. */
static const double exact_sin_s[6] = {-0x1.5555555555548p-3, 0x1.111111110f756p-7,   -0x1.a01a019bf18fbp-13,
                                      0x1.71de355eb7c4ap-19, -0x1.ae5e545411256p-26, 0x1.5d8e33bac852cp-33};

/* cos r = 1 - r^2/2 + r^4 C(r^2) there; relative error 2^-63.8. */
static const double exact_cos_c[6] = {0x1.555555555554ap-5,   -0x1.6c16c16c14e93p-10, 0x1.a01a019c6ed18p-16,
                                      -0x1.27e4f7dd02c8ap-22, 0x1.1ee9cf45b7355p-29,  -0x1.8fa09c1ca1cd4p-37};

/* pi/2 as a sum; the first two have 33 bits. */
static const double exact_half_pi[3] = {0x1.921fb54400000p+0, 0x1.0b4611a600000p-34, 0x1.3198a2e037073p-69};

/* 2/pi: 64 bits before the point, 320 after it. */
static const uint64_t exact_two_over_pi[6] = {0x0000000000000000, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0,
                                              0xDB6295993C439041, 0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0};
#endif
