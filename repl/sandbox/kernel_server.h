/* kernel_server.h - the process that compiles and runs the kernels of a submission: this program,
 * started again, with nothing of the lab in memory. The core's sl_custom_serve answers in it; here
 * are its fences. docs/design/labs.md has the whole.
 */
#ifndef REPL_KERNEL_SERVER_H
#define REPL_KERNEL_SERVER_H

#include <lua.h>

/* The first argument of the program with which it becomes that process. */
#define KERNEL_SERVER "--kernel-server"

/* The main function of the process; `argv` as start_kernel_server makes it. */
int kernel_server_main(int argc, char **argv);

/* Adds to the program's functions for its own Lua code:
 *   start_kernel_server{processor_seconds =, memory_bytes =, folder =}
 *     Starts it in this process's group, for this process alone, which it does not outlive. It has
 *     so much time for all that it compiles and runs, and so much memory for a kernel beside the
 *     tensors; it writes only below the folder, which exists. Gives the descriptor of the socket,
 *     and a list of sentences: what this system could not do. */
void kernel_server_add(lua_State *L);

#endif
