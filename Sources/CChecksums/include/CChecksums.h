// SPDX-License-Identifier: Apache-2.0
//
// Carry-less multiplication for cyclic redundancy checks, which Swift has no operation for. Where the processor has none
// either, `checksums_can_fold` is false, and nothing else here may be called.
#ifndef CCHECKSUMS_H
#define CCHECKSUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

/// Whether this processor multiplies without carries: PCLMULQDQ, with SSE4.1.
static inline bool checksums_can_fold(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return false;
  return (c & bit_PCLMUL) && (c & bit_SSE4_1);
}

__attribute__((target("pclmul,sse4.1"), always_inline))
static inline __m128i checksums_folded(__m128i value, __m128i powers, __m128i next) {
  return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(value, powers, 0x00), _mm_clmulepi64_si128(value, powers, 0x11)),
                       next);
}

/// Folds `count` bytes, a multiple of 16 and at least 64, into 16 that leave the same remainder in a reflected algorithm
/// whose register was zero. `state` is the register before them. `powers` are x to the powers of 544, 480, 160 and 96 modulo
/// the polynomial, each with the coefficient of x to the power of i in bit 32 − i.
///
/// The way is that of Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel,
/// 2009: four lanes of 16 bytes are multiplied across 64 bytes at a time, and then folded into one.
__attribute__((target("pclmul,sse4.1")))
static inline void checksums_fold(const uint8_t *bytes, size_t count, uint32_t state, const uint64_t powers[4],
                                  uint8_t folded[16]) {
  const __m128i *next = (const __m128i *)bytes;
  const __m128i *end = next + count / 16;
  __m128i far = _mm_set_epi64x((long long)powers[1], (long long)powers[0]);
  __m128i near = _mm_set_epi64x((long long)powers[3], (long long)powers[2]);
  __m128i a = _mm_xor_si128(_mm_loadu_si128(next), _mm_cvtsi32_si128((int)state));
  __m128i b = _mm_loadu_si128(next + 1);
  __m128i c = _mm_loadu_si128(next + 2);
  __m128i d = _mm_loadu_si128(next + 3);
  next += 4;
  for (; end - next >= 4; next += 4) {
    a = checksums_folded(a, far, _mm_loadu_si128(next));
    b = checksums_folded(b, far, _mm_loadu_si128(next + 1));
    c = checksums_folded(c, far, _mm_loadu_si128(next + 2));
    d = checksums_folded(d, far, _mm_loadu_si128(next + 3));
  }
  a = checksums_folded(a, near, b);
  a = checksums_folded(a, near, c);
  a = checksums_folded(a, near, d);
  for (; next < end; next++) a = checksums_folded(a, near, _mm_loadu_si128(next));
  _mm_storeu_si128((__m128i *)folded, a);
}

#else

static inline bool checksums_can_fold(void) { return false; }

/// Must not be called.
static inline void checksums_fold(const uint8_t *bytes, size_t count, uint32_t state, const uint64_t powers[4],
                                  uint8_t folded[16]) {
  (void)bytes; (void)count; (void)state; (void)powers; (void)folded;
  __builtin_trap();
}

#endif
#endif
