/* Does VGATHERDPS, an instruction of AVX2, work on this CPU with its indices in register 4? Exit code 0 if so. QEMU 7.2 takes
 * that register for "no index", as it is in addresses without vectors, and loads element 0 for every lane. Nothing here is of
 * the kernels; cpus.py builds it with -mavx2. */
#include <immintrin.h>

int main(void) {
  const float want[8] = {1, 3, 4, 6, 8, 9, 11, 15};
  float table[16], got[8];
  for (int i = 0; i < 16; i++) table[i] = (float)i;
  register __m256i index __asm__("ymm4") = _mm256_setr_epi32(1, 3, 4, 6, 8, 9, 11, 15);
  register __m256 lanes __asm__("ymm1") = _mm256_setzero_ps();
  register __m256i mask __asm__("ymm0") = _mm256_set1_epi32(-1);
  __asm__ volatile("vgatherdps %1, (%2,%3,4), %0" : "+x"(lanes), "+x"(mask) : "r"(table), "x"(index) : "memory");
  _mm256_storeu_ps(got, lanes);
  for (int i = 0; i < 8; i++)
    if (got[i] != want[i]) return 1;
  return 0;
}
