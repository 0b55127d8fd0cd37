/* entry.h - an entry of the console, whoever sends it: the prompt or the server (repl/server).
 *
 * An entry is a chunk of Lua (compile.h), or lines for the console itself (".help", "?x", "!ls"),
 * which begin as no Lua does, and then perhaps a chunk. The n-th chunk is named "lab[n]", and its
 * text is kept for those who quote lines: registry["streamlab.entries"]["=lab[n]"]. In all of these
 * the entry's text is at index 1.
 */
#ifndef REPL_ENTRY_H
#define REPL_ENTRY_H

#include <lua.h>
#include <stdbool.h>

/* Whether the entry begins with a line for the console: ".word", "?", "!". */
bool entry_is_command(lua_State *L);

/* Runs the lines for the console with which the entry begins; the rest takes its place. Whether
 * that is more than blanks. */
bool entry_obey_commands(lua_State *L);

/* Compiles the entry as the n-th chunk: see compile_entry. */
int entry_compile(lua_State *L, int n, bool *more, bool *silent);

/* Keeps the text under the n-th chunk's name; "=expression" as the Lua that it is. */
void entry_keep_text(lua_State *L, int n);

/* Calls the n-th chunk's function at index 2, whose results or error take its place. */
int entry_run(lua_State *L, int n);

/* The value at index 2, of the n-th chunk, becomes the global `_` and Out[n]. */
void entry_keep_value(lua_State *L, int n);

/* Calls the function `name` of console.lua with the values from index 2 on, which it takes from
 * the stack; or without any. What goes wrong is reported. */
void entry_call_console(lua_State *L, const char *name);
void entry_tell_console(lua_State *L, const char *name);

#endif
