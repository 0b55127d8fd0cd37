/* bytes.h - what is made of some bytes: a digest, and letters. */
#ifndef SL_TEXT_BYTES_H
#define SL_TEXT_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* The digest (FIPS 180-4), by which files and points of plans are known again. */
enum { SL_SHA256_CHARS = 65 }; /* 64 hexadecimal digits and a zero */

void sl_sha256(const void *bytes, size_t n, char text[SL_SHA256_CHARS]);

/* Base64 (RFC 4648, section 4): the four digits of n bytes, 1 to 3, which are the highest of 24
 * bits; the others are 0. What lacks is "=". */
void sl__base64_group(uint32_t bits, int n, char digits[4]);

#endif
