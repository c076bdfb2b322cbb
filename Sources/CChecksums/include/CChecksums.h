// SPDX-License-Identifier: Apache-2.0
//
// Carry-less multiplication for cyclic redundancy checks, which Swift has no operation for. Where the processor has none
// either, `checksums_can_fold` is false, and nothing else here may be called.
#ifndef CCHECKSUMS_H
#define CCHECKSUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// One vector of 16 bytes, and the three operations with it, as each processor has them.
#if defined(__x86_64__)
#define CHECKSUMS_FOLD 1
#include <cpuid.h>
#include <immintrin.h>

#define CHECKSUMS_TARGET __attribute__((target("pclmul,sse4.1")))
typedef __m128i checksums_vector;

/// Whether this processor multiplies without carries: PCLMULQDQ, with SSE4.1.
static inline bool checksums_can_fold(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return false;
  return (c & bit_PCLMUL) && (c & bit_SSE4_1);
}

CHECKSUMS_TARGET __attribute__((always_inline))
static inline checksums_vector checksums_vector_of(uint64_t low, uint64_t high) {
  return _mm_set_epi64x((long long)high, (long long)low);
}

CHECKSUMS_TARGET __attribute__((always_inline))
static inline checksums_vector checksums_loaded(const uint8_t *bytes) {
  return _mm_loadu_si128((const __m128i *)bytes);
}

CHECKSUMS_TARGET __attribute__((always_inline))
static inline void checksums_store(uint8_t *bytes, checksums_vector value) {
  _mm_storeu_si128((__m128i *)bytes, value);
}

CHECKSUMS_TARGET __attribute__((always_inline))
static inline checksums_vector checksums_sum(checksums_vector one, checksums_vector other) {
  return _mm_xor_si128(one, other);
}

/// The lower halves' product and the upper halves' product, added.
CHECKSUMS_TARGET __attribute__((always_inline))
static inline checksums_vector checksums_products(checksums_vector value, checksums_vector powers) {
  return _mm_xor_si128(_mm_clmulepi64_si128(value, powers, 0x00), _mm_clmulepi64_si128(value, powers, 0x11));
}

#elif defined(__aarch64__) && defined(__AARCH64EL__) && defined(__linux__)
#define CHECKSUMS_FOLD 1
#include <arm_neon.h>
#include <sys/auxv.h>

#define CHECKSUMS_TARGET __attribute__((target("aes")))
typedef uint64x2_t checksums_vector;

/// Whether this processor multiplies without carries: PMULL, which a Raspberry Pi has since the fifth.
static inline bool checksums_can_fold(void) { return (getauxval(AT_HWCAP) & HWCAP_PMULL) != 0; }

CHECKSUMS_TARGET __attribute__((always_inline))
static inline checksums_vector checksums_vector_of(uint64_t low, uint64_t high) {
  return vcombine_u64(vcreate_u64(low), vcreate_u64(high));
}

CHECKSUMS_TARGET __attribute__((always_inline))
static inline checksums_vector checksums_loaded(const uint8_t *bytes) {
  return vreinterpretq_u64_u8(vld1q_u8(bytes));
}

CHECKSUMS_TARGET __attribute__((always_inline))
static inline void checksums_store(uint8_t *bytes, checksums_vector value) {
  vst1q_u8(bytes, vreinterpretq_u8_u64(value));
}

CHECKSUMS_TARGET __attribute__((always_inline))
static inline checksums_vector checksums_sum(checksums_vector one, checksums_vector other) {
  return veorq_u64(one, other);
}

/// The lower halves' product and the upper halves' product, added.
CHECKSUMS_TARGET __attribute__((always_inline))
static inline checksums_vector checksums_products(checksums_vector value, checksums_vector powers) {
  poly64x2_t a = vreinterpretq_p64_u64(value), b = vreinterpretq_p64_u64(powers);
  poly128_t low = vmull_p64(vgetq_lane_p64(a, 0), vgetq_lane_p64(b, 0));
  return veorq_u64(vreinterpretq_u64_p128(low), vreinterpretq_u64_p128(vmull_high_p64(a, b)));
}
#endif

#if defined(CHECKSUMS_FOLD)
CHECKSUMS_TARGET __attribute__((always_inline))
static inline checksums_vector checksums_folded(checksums_vector value, checksums_vector powers, checksums_vector next) {
  return checksums_sum(checksums_products(value, powers), next);
}

/// Folds `count` bytes, a multiple of 16 and at least 64, into 16 that leave the same remainder in a reflected algorithm
/// whose register was zero. `state` is the register before them. `powers` are x to the powers of 544, 480, 160 and 96 modulo
/// the polynomial, each with the coefficient of x to the power of i in bit 32 − i.
///
/// The way is that of Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel,
/// 2009: four lanes of 16 bytes are multiplied across 64 bytes at a time, and then folded into one.
CHECKSUMS_TARGET
static inline void checksums_fold(const uint8_t *bytes, size_t count, uint32_t state, const uint64_t powers[4],
                                  uint8_t folded[16]) {
  const uint8_t *next = bytes, *end = bytes + count;
  checksums_vector far = checksums_vector_of(powers[0], powers[1]);
  checksums_vector near = checksums_vector_of(powers[2], powers[3]);
  checksums_vector a = checksums_sum(checksums_loaded(next), checksums_vector_of(state, 0));
  checksums_vector b = checksums_loaded(next + 16);
  checksums_vector c = checksums_loaded(next + 32);
  checksums_vector d = checksums_loaded(next + 48);
  next += 64;
  for (; end - next >= 64; next += 64) {
    a = checksums_folded(a, far, checksums_loaded(next));
    b = checksums_folded(b, far, checksums_loaded(next + 16));
    c = checksums_folded(c, far, checksums_loaded(next + 32));
    d = checksums_folded(d, far, checksums_loaded(next + 48));
  }
  a = checksums_folded(a, near, b);
  a = checksums_folded(a, near, c);
  a = checksums_folded(a, near, d);
  for (; next < end; next += 16) a = checksums_folded(a, near, checksums_loaded(next));
  checksums_store(folded, a);
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
