/* subcommands.h - streamlab show, streamlab diff: Lua programs that are built in.
 */
#ifndef REPL_SUBCOMMANDS_H
#define REPL_SUBCOMMANDS_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

/* The files of repl/commands, as scripts/embed.sh writes them at build time; the names are
 * paths from the root of the source tree. An entry without a name ends it. */
typedef struct command_file {
    const char *name;
    const char *data;
    size_t len;
} command_file;

extern const command_file command_files[];

/* Whether there is a subcommand of that name. */
bool subcommand_exists(const char *name);

/* Runs it with the values of the global `arg` as `...`. One that fails says why and ends the
 * program by os.exit; what is returned is a Lua status as in run.h. */
int subcommand_run(lua_State *L, const char *name);

#endif
