// SPDX-License-Identifier: Apache-2.0
//
// QR codes by libqrencode (4.0 or later), which is loaded when it is first needed, so bridge-cli runs without it.

#ifndef C_LIBQRENCODE_H
#define C_LIBQRENCODE_H

// Makes the QR code of a text. Writes a byte for each module, row by row, 1 for a dark one, and returns how many are in a row. Returns 0 if
// the library isn't there, or if there is no room for all.
int shim_qr_code(const char *text, unsigned char *modules, int capacity);

#endif
