/* children.h - runs other programs side by side and collects their output, for grading.
 */
#ifndef REPL_CHILDREN_H
#define REPL_CHILDREN_H

#include <lua.h>

/* Adds to the program's functions for its own Lua code:
 *   spawn{command = {path, ...}, wall_seconds =, output_bytes =, environment = {NAME = text}?,
 *         server = value?}
 *     Starts it and gives a number for it. It sees /dev/null as stdin, has pipes as stdout,
 *     stderr and descriptor 3, its report, no other file, a session of its own, and little of
 *     our environment. A program that cannot be run is an error. A server (fork_server.h) starts it
 *     if it can.
 *   wait()
 *     Waits for the next one that ends; nil if none runs. Gives {id =, output =, errors =,
 *     report =, status = or nil, signal = or nil, timed_out =, truncated =, report_too_long =,
 *     processor_s =, out_of_memory =}. After wall_seconds it is killed, of which only those count
 *     that are spent in wait, and in which it does not wait for a processor that others use; of
 *     its output only output_bytes are kept. If this process has no memory for what it says, it is
 *     killed, and nothing of that is given. What it has started dies with it.
 *   executable()      the path of this program
 * Children that nobody waits for are killed when the state is closed. */
void children_add(lua_State *L);

/* Adds to the program's functions for its own Lua code:
 *   make_scratch()        a new folder below $TMPDIR or /tmp, for this user alone: its path
 *   remove_scratch(path)  that folder, with everything in it; links are removed, not followed */
void scratch_add(lua_State *L);

#endif
