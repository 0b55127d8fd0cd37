/* ctrl_c.h - Ctrl-C: stops the Lua code that runs.
 *
 * The first SIGINT makes the running chunk fail with "interrupted!", wherever it is: in a
 * coroutine, and in a loop around pcall too, for the error is raised again and again until
 * the outermost run has ended. A second one within two seconds, while that still runs, ends
 * the process with status 130.
 */
#ifndef REPL_CTRL_C_H
#define REPL_CTRL_C_H

#include <lua.h>
#include <stdbool.h>

/* Has the laboratory, which is open, say when it runs a host function. Called once, before
 * coroutines_open (coroutines.h), which makes the running coroutine known. */
void interrupt_open(lua_State *L);

/* Around the running of a chunk; they nest, and the outermost pair forgets a SIGINT. What
 * arm returns is for disarm. If the chunk failed, `status` says so and its error is on the
 * stack's top. */
lua_State *interrupt_arm(lua_State *L);
void interrupt_disarm(lua_State *L, lua_State *before, int status);

/* For a handler of SIGINT outside of runs: it is for the next one, which fails at once. And: it is
 * not, that run is over. */
void interrupt_note_early(void);
void interrupt_forget_early(void);

/* Whether it was SIGINT's error that ended the latest chunk. One that the script
 * caught, before it failed for another reason, does not count. */
bool interrupt_ended_run(void);

/* Whether SIGINT came during the latest chunk, even if the chunk ended before the hook ran. */
bool interrupt_came(void);

/* For a function that waits by itself: whether it must stop, because of SIGINT or because the
 * time is up, and what raises the error then. */
bool interrupt_is_pending(void);
void interrupt_raise(lua_State *L);

/* From now on SIGXCPU, which the system sends at the end of RLIMIT_CPU, makes the running chunk
 * fail with "used up its N s of processor time", as SIGINT does with its error. */
void interrupt_limit_time(long seconds);

/* What had the limit has ended: no more of that error. Whether the time was up. */
bool interrupt_end_limit(lua_State *L);

/* The process ends within a run (os.exit) in which the script caught SIGINT's error: it is not
 * raised again. Whether there was a SIGINT. */
bool interrupt_forget(lua_State *L);

/* The process ends within a run (os.exit): SIGINT ends it from now on, unless it is ignored. */
void interrupt_abandon(void);

/* Adds to the program's functions for its own Lua code: call_stoppable(). */
void interrupt_add(lua_State *L);

/* Whether SIGINT has come during any run. */
bool interrupt_has_come(void);

/* ---- for those who run Lua in another state (repl/run/coroutines.c) ----------------------- */

/* `co` runs from now on. Returns the state that did until now, for interrupt_return, after
 * which that one goes on; it may be NULL, where nothing is armed. */
lua_State *interrupt_enter(lua_State *co);
void interrupt_return(lua_State *co, lua_State *before);

/* `co`, which is new, has the hook of the one that made it; this takes ours away. */
void interrupt_unhook(lua_State *co);

/* Whether the value on the stack's top is, or tells of, an error raised for SIGINT. */
bool interrupt_is_error(lua_State *L);

#endif
