/* base64.h - bytes as letters (RFC 4648, section 4). */
#ifndef SL_TEXT_BASE64_H
#define SL_TEXT_BASE64_H

#include <stdint.h>

/* The four digits of n bytes, 1 to 3, which are the highest of 24 bits; the others are 0. What lacks
 * is "=". */
void sl__base64_group(uint32_t bits, int n, char digits[4]);

#endif
