/* utf8.h - reading UTF-8 that users wrote: stream names, kernel names, paths.
 *
 * The host's locale plays no part: the same bytes give the same picture and the same file
 * everywhere.
 */
#ifndef SL_TEXT_UTF8_H
#define SL_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SL__UTF8_BAD 0xFFFDu /* replaces a byte that is no UTF-8 */

/* Decodes the character at *at (NUL-terminated) and moves *at behind it; 0 at the
 * end. A byte that begins no well-formed sequence (overlong forms, surrogates and
 * truncated ones included) is skipped alone, with *good false. */
uint32_t sl__utf8_next(const char **at, bool *good);

#endif
