/* run.h - runs chunks of Lua and reports their errors.
 *
 * repl/run/ is what running a script takes, with or without a prompt: the command line, the
 * program's own Lua code, chunks and their errors, Ctrl-C and other signals; and what the rooms
 * of repl/ share in Lua. It includes no other room.
 *
 * Everything here returns a Lua status (LUA_OK or an error's) and leaves the
 * stack as it was; an error has been printed to stderr when it returns.
 */
#ifndef REPL_RUN_H
#define REPL_RUN_H

#include <lua.h>

#include "options.h"

/* "streamlab: TEXT" on stderr, after what stdout holds. What a terminal would obey is written
 * out, as "\x1b". */
void run_message(const char *text);

/* The same of a text with colours, in which whatever is foreign is safe already. */
void run_coloured_message(const char *text);

/* Prints the error value on the stack's top and pops it, if status is one. */
int run_report(lua_State *L, int status);

/* Pushes what is known of the error on the stack's top, which run_call or a compiler left there:
 * the report of traceback.h, with `syntax`: it is a compiler's. */
void run_push_report(lua_State *L, int status);

/* Calls the function below `n_args` arguments with traceback and Ctrl-C. The
 * error value is left on the stack and not printed. */
int run_call(lua_State *L, int n_args, int n_results);

/* LUA_INIT_5_4, or LUA_INIT: a string, or @FILE. */
int run_environment(lua_State *L);

/* -e STAT, -l MOD, -l G=MOD. */
int run_chunk(lua_State *L, const chunk *c);

/* The file `path` ("-": stdin) with the global `arg`'s values as `...`. */
int run_script(lua_State *L, const char *path);

/* Adds to the program's functions for its own Lua code (mute.c)
 *   mute()    until unmute() what is written to stdout goes nowhere: by Lua, by the laboratory's
 *             pictures, by programs that are started
 *   unmute()  stdout is as before; without mute() before it, nothing happens */
void mute_add(lua_State *L);

/* A Lua state whose small blocks come from memory that all such states share. NULL: out of memory.
 * By one thread at a time. */
lua_State *memory_new_state(void);
/* Frees what they share, after the last lua_close. */
void memory_close(void);

#endif
