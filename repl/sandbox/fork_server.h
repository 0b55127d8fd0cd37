/* fork_server.h - a process that has loaded what many children need, and is forked for each of
 * them.
 *
 * That is faster than starting the program each time. The new process is a child of the server's
 * parent (CLONE_PARENT, of Linux), which reads its output and detects its end as if it had started
 * it itself. The server runs no code of a child, so one child finds nothing of another.
 */
#ifndef REPL_FORK_SERVER_H
#define REPL_FORK_SERVER_H

#include <lua.h>
#include <stdbool.h>

#include "child_start.h"

/* Has the server at `index` start the child: its command is what next_fork gives there, and its
 * environment is the server's. False: there is no server, or it cannot, and then never will. */
bool fork_server_run(lua_State *L, int index, child_start *start);

/* Adds to the program's functions for its own Lua code:
 *   start_fork_server(command)
 *     Starts a server, a value for `spawn`; what it prints is lost, also why it cannot. It ends
 *     when the value is closed or collected.
 *   next_fork()
 *     Of the server: returns in each process that is forked, with the words of its command. If it
 *     cannot fork, for instance because a library has started threads, it ends. */
void fork_server_add(lua_State *L);

#endif
