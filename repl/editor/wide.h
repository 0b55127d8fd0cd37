/* wide.h - texts in wide characters and back, by the locale in force. */
#ifndef REPL_WIDE_H
#define REPL_WIDE_H

#include <stddef.h>
#include <wchar.h>

/* The text in wide characters, to be freed; bytes that are no character become "?". */
wchar_t *wide_of(const char *text);

/* The other way: `before`, and the first n characters behind it; *len is its length. To be
 * freed. */
char *wide_narrow(const char *before, const wchar_t *wide, size_t n, size_t *len);

/* How many bytes the character has. */
size_t wide_bytes(wchar_t c);

/* Columns of a character that is drawn at that column: tabs go to every eighth, control
 * characters are drawn as ^X. */
int wide_columns(wchar_t c, int column);

#endif
