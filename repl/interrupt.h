/* interrupt.h - Ctrl-C: ends the running Lua code with an error.
 *
 * The first SIGINT makes the running chunk fail with "interrupted!", also
 * inside a coroutine; a second one, before that has happened, ends the process.
 */
#ifndef REPL_INTERRUPT_H
#define REPL_INTERRUPT_H

#include <lua.h>
#include <stdbool.h>

/* Wraps coroutine.resume and coroutine.wrap, so that the running coroutine is
 * known. Called once, with the libraries open. */
void interrupt_open(lua_State *L);

/* Around the running of a chunk. */
void interrupt_arm(lua_State *L);
void interrupt_disarm(void);

/* Whether SIGINT has come since the latest arm. */
bool interrupt_seen(void);

#endif
