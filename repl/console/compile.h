/* compile.h - makes a function of an entry of the console.
 *
 * The entry is tried as an expression first ("return ENTRY"), then as statements, then as
 * statements of which the last is an expression. "=expression" is as in lua5.4. An entry that
 * ends in ";" asks that its values are not shown.
 */
#ifndef REPL_COMPILE_H
#define REPL_COMPILE_H

#include <lua.h>
#include <stdbool.h>

/* The entry is the string at `index`; `name` is its chunk's. Returns the Lua status and
 * pushes the function or the error. *more: further lines could complete the entry. *silent:
 * its values are not to be shown. */
int compile_entry(lua_State *L, int index, const char *name, bool *more, bool *silent);

#endif
