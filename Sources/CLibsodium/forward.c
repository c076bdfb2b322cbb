// SPDX-License-Identifier: Apache-2.0
//
// Each function calls the one of the same name in the library, which shim_load_libsodium has loaded.

#include "CLibsodium.h"

#include <dlfcn.h>

// A line for each: result, name, parameters, arguments.
#define FUNCTIONS(F)                                                                                                     \
  F(int, crypto_scalarmult_curve25519, (unsigned char *shared, const unsigned char *secret, const unsigned char *other), \
    (shared, secret, other))                                                                                             \
  F(int, crypto_scalarmult_curve25519_base, (unsigned char *own, const unsigned char *secret), (own, secret))            \
  F(int, crypto_aead_chacha20poly1305_ietf_encrypt,                                                                      \
    (unsigned char *sealed, unsigned long long *sealed_count, const unsigned char *bytes, unsigned long long count,      \
     const unsigned char *associated, unsigned long long associated_count, const unsigned char *unused,                  \
     const unsigned char *nonce, const unsigned char *key),                                                              \
    (sealed, sealed_count, bytes, count, associated, associated_count, unused, nonce, key))                              \
  F(int, crypto_aead_chacha20poly1305_ietf_decrypt,                                                                      \
    (unsigned char *bytes, unsigned long long *count, unsigned char *unused, const unsigned char *sealed,                \
     unsigned long long sealed_count, const unsigned char *associated, unsigned long long associated_count,              \
     const unsigned char *nonce, const unsigned char *key),                                                              \
    (bytes, count, unused, sealed, sealed_count, associated, associated_count, nonce, key))

#define FORWARD(result, name, parameters, arguments) \
  static result(*real_##name) parameters;            \
  __attribute__((visibility("hidden"))) result name parameters { return real_##name arguments; }
FUNCTIONS(FORWARD)

const char *shim_load_libsodium(void) {
  void *library = dlopen("libsodium.so.23", RTLD_NOW | RTLD_LOCAL);
  // Newer distributions.
  if (library == NULL) library = dlopen("libsodium.so.26", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return dlerror();
#define FIND(result, name, parameters, arguments) \
  if ((real_##name = dlsym(library, #name)) == NULL) return dlerror();
  FUNCTIONS(FIND)
  int (*initialize)(void) = (int (*)(void))dlsym(library, "sodium_init");
  if (initialize == NULL) return dlerror();
  return initialize() < 0 ? "libsodium can't be initialized" : NULL;
}
