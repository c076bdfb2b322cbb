// SPDX-License-Identifier: Apache-2.0
//
// The functions of libsodium (1.0.18 or later) that the native API's encryption uses. The library is loaded when it is first needed, so
// bridge-cli runs without it.

#ifndef C_LIBSODIUM_H
#define C_LIBSODIUM_H

#include <stddef.h>
#include <stdint.h>

// Loads and initializes the library. Returns NULL, or what is wrong. Call it once, before all others.
const char *shim_load_libsodium(void);

int crypto_scalarmult_curve25519(unsigned char *shared, const unsigned char *secret, const unsigned char *other);
int crypto_scalarmult_curve25519_base(unsigned char *own, const unsigned char *secret);
int crypto_aead_chacha20poly1305_ietf_encrypt(
    unsigned char *sealed, unsigned long long *sealed_count, const unsigned char *bytes, unsigned long long count,
    const unsigned char *associated, unsigned long long associated_count, const unsigned char *unused,
    const unsigned char *nonce, const unsigned char *key);
int crypto_aead_chacha20poly1305_ietf_decrypt(
    unsigned char *bytes, unsigned long long *count, unsigned char *unused, const unsigned char *sealed,
    unsigned long long sealed_count, const unsigned char *associated, unsigned long long associated_count,
    const unsigned char *nonce, const unsigned char *key);

#endif
