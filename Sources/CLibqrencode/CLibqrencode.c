// SPDX-License-Identifier: Apache-2.0

#include "CLibqrencode.h"

#include <dlfcn.h>
#include <stddef.h>

// As qrencode.h has it.
struct code {
  int version;
  int width;
  unsigned char *data;
};

int shim_qr_code(const char *text, unsigned char *modules, int capacity) {
  void *library = dlopen("libqrencode.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return 0;
  struct code *(*encode)(const char *, int, int, int, int) =
      (struct code * (*)(const char *, int, int, int, int)) dlsym(library, "QRcode_encodeString");
  void (*release)(struct code *) = (void (*)(struct code *))dlsym(library, "QRcode_free");
  int width = 0;
  if (encode != NULL && release != NULL) {
    // The smallest version, level M, 8-bit bytes, upper and lower case as they are.
    struct code *code = encode(text, 0, 1, 2, 1);
    if (code != NULL) {
      if (code->width > 0 && code->width <= 177 && code->width * code->width <= capacity) {
        width = code->width;
        // Bit 0 is the colour; the others say what the module is for.
        for (int i = 0; i < width * width; i++) modules[i] = code->data[i] & 1;
      }
      release(code);
    }
  }
  dlclose(library);
  return width;
}
