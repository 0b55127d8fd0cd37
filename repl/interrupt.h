/* interrupt.h - Ctrl-C: ends the running Lua code with an error.
 *
 * The first SIGINT makes the running chunk fail with "interrupted!", also
 * inside a coroutine; a second one during that chunk ends the process, so that
 * a script that catches all errors can be ended, too.
 */
#ifndef REPL_INTERRUPT_H
#define REPL_INTERRUPT_H

#include <lua.h>
#include <stdbool.h>

/* Replaces coroutine.resume and coroutine.wrap, so that the running coroutine is
 * known. Called once, with the libraries open. */
void interrupt_open(lua_State *L);

/* Around the running of a chunk. If it failed, `status` says so and its error is on
 * the stack's top. */
void interrupt_arm(lua_State *L);
void interrupt_disarm(lua_State *L, int status);

/* Whether it was SIGINT's error that ended the latest chunk. One that the script
 * caught, before it failed for another reason, does not count. */
bool interrupt_ended_run(void);

/* The program leaves after Ctrl-C: from now on no wait for a device lasts, whatever else
 * is run. */
void interrupt_leave(void);

#endif
