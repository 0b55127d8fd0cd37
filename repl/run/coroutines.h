/* coroutines.h - Lua's coroutine functions, xpcall and pcall as Ctrl-C needs them.
 */
#ifndef REPL_COROUTINES_H
#define REPL_COROUTINES_H

#include <lua.h>

/* Replaces xpcall, coroutine.create, resume, wrap and close, so that the coroutine that runs is
 * known to ctrl_c.c. Called once, before anybody keeps one of these functions. */
void coroutines_open(lua_State *L);

/* The pcall of the program's own Lua files: an error raised for SIGINT passes. */
int coroutines_own_pcall(lua_State *L);

#endif
