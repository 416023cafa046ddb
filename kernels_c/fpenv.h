#ifndef EXACT_FPENV_H
#define EXACT_FPENV_H
/* The floating-point environment of a task: round to nearest even, subnormals kept, exceptions masked.
 * enter returns the caller's environment, leave restores it. Elsewhere than x86-64 and arm64: <fenv.h>. */
#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
typedef uint32_t exact_fpenv;
static inline exact_fpenv exact_fpenv_enter(void) {
  uint32_t host = _mm_getcsr();
  if ((host & 0xFFC0u) != 0x1F80u) _mm_setcsr(0x1F80u);
  __asm__ volatile("" ::: "memory");
  return host;
}
static inline void exact_fpenv_leave(exact_fpenv host) {
  __asm__ volatile("" ::: "memory");
  if ((host & 0xFFC0u) != 0x1F80u) _mm_setcsr(host);
}
#elif defined(__aarch64__)
typedef uint64_t exact_fpenv;
static inline exact_fpenv exact_fpenv_enter(void) {
  uint64_t host;
  __asm__ volatile("mrs %0, fpcr" : "=r"(host)::"memory");
  if (host) __asm__ volatile("msr fpcr, %0\n\tisb" ::"r"((uint64_t)0) : "memory");
  return host;
}
static inline void exact_fpenv_leave(exact_fpenv host) {
  if (host) __asm__ volatile("msr fpcr, %0\n\tisb" ::"r"(host) : "memory");
}
#else
#include <fenv.h>
typedef fenv_t exact_fpenv;
static inline exact_fpenv exact_fpenv_enter(void) {
  fenv_t host;
  fegetenv(&host);
  fesetenv(FE_DFL_ENV);
  return host;
}
static inline void exact_fpenv_leave(exact_fpenv host) { fesetenv(&host); }
#endif
#endif
