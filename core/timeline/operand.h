/* operand.h - the variable that a line of a script copies. */
#ifndef SL_TIMELINE_OPERAND_H
#define SL_TIMELINE_OPERAND_H

#include <stdbool.h>

/* The variable that a copy on this line of a Lua script reads (`written`: writes), as it
 * stands there: the bytes at *name, 0 if the line does not tell for certain. */
int sl__find_operand(const char *line, bool written, const char **name);

#endif
