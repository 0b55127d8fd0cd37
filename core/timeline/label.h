/* label.h - names and lines that others wrote, as they may stand in a sentence. */
#ifndef SL_TIMELINE_LABEL_H
#define SL_TIMELINE_LABEL_H

#include "timeline.h"

/* Adds `text` in at most `columns` (at least 8) columns of a terminal. What must not
 * reach one, and what is no UTF-8, becomes "?". The middle of a longer text becomes
 * "...": names of kernels differ at both ends. */
void sl__put_label(sl_text *out, const char *text, int columns);
/* The same, but what is too long is cut at its end. */
void sl__put_start(sl_text *out, const char *text, int columns);

/* The columns of text[0 .. bytes - 1]. */
int sl__label_columns(const char *text, size_t bytes);

/* The variable that a copy on this line of a Lua script reads (`written`: writes), as it
 * stands there: the bytes at *name, 0 if the line does not tell for certain. */
int sl__find_operand(const char *line, bool written, const char **name);

#endif
