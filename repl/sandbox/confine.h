/* confine.h - confines the process in which untrusted Lua code runs, which children.c has
 * started.
 *
 * repl/sandbox/ runs code that is not trusted: starting and collecting processes, limits,
 * and the filter of system calls.
 */
#ifndef REPL_CONFINE_H
#define REPL_CONFINE_H

#include <lua.h>

/* Adds to the program's functions for its own Lua code:
 *   prepare_filter(gpu)
 *     Does the part of `confine` that is the same in all processes that are forked from this one.
 *   confine{processor_seconds =, memory_bytes =, gpu = false}
 *     From now on this process has so much processor time and memory more (with gpu only
 *     Lua's own memory is counted), and can open no file (with gpu: make none), reach no
 *     network and start nothing. Gives a list of sentences: what this system could not do.
 *     When the time is up the running code gets an error, again and again; a second later the
 *     process is killed.
 *   call_confined(f, ...)
 *     Calls f with the arguments. When it has ended, one way or the other, there is no limit of
 *     Lua's memory and no error of the time any more: a second is left to tell what became of
 *     it. Gives whether the time was up, and then what pcall does.
 *   report(bytes)     writes to descriptor 3
 *   leave()           ends the process with status 0, at once */
void confine_add(lua_State *L);

#endif
