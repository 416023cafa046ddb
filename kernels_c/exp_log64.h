#ifndef EXACT_EXP_LOG64_H
#define EXACT_EXP_LOG64_H
/* float64 exp and log, correctly rounded for every argument: docs/exp_log.md, "float64". They rely on the environment that
 * exact_parallel sets. */
double exact_exp_cr(double x);
double exact_log_cr(double x);

/* The same by 256-bit integers, for arguments that pairs of doubles do not decide: 2^-54 <= |x| < 746, and any finite
 * positive x other than 1. */
double exact_exp_wide(double x);
double exact_log_wide(double x);
/* log m to 2^-50, sqrt(1/2) <= m < sqrt 2. */
double exact_log_near(double m);
#endif
