/* subcommands.h - streamlab probe, compare, show, diff, help: Lua programs that are built in.
 *
 * repl/commands/ has the subcommands, a Lua file each, and the functions in C that only they
 * need.
 */
#ifndef REPL_SUBCOMMANDS_H
#define REPL_SUBCOMMANDS_H

#include <lua.h>

/* There is no script of that name: says on stderr which subcommand may be meant, if one is
 * spelt much like it. */
void subcommand_suggest(lua_State *L, const char *typed);

/* Runs it with the values of the global `arg` as `...`. One that fails says why and ends the
 * program by os.exit; what is returned is a Lua status as in run.h. */
int subcommand_run(lua_State *L, const char *name);

#endif
