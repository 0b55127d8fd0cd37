/* sha256.h - the digest of some bytes (FIPS 180-4), by which files and points of plans are known
 * again.
 */
#ifndef SL_TEXT_SHA256_H
#define SL_TEXT_SHA256_H

#include <stddef.h>

enum { SL_SHA256_CHARS = 65 }; /* 64 hexadecimal digits and a zero */

void sl_sha256(const void *bytes, size_t n, char text[SL_SHA256_CHARS]);

#endif
