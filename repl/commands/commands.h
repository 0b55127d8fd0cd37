/* commands.h - the subcommands, streamlab probe, compare, show, diff, ...: a Lua file each in
 * repl/commands/, and the functions in C that only they need.
 */
#ifndef REPL_COMMANDS_H
#define REPL_COMMANDS_H

#include <lua.h>

/* Runs the subcommand with the values of the global `arg` as `...`. One that fails says why and
 * ends the program by os.exit; what is returned is a Lua status as in run.h. */
int subcommand_run(lua_State *L, const char *name);

/* Adds to the program's functions for its own Lua code (folder.c)
 *   folder(path)       a list of the names in it, those of folders with "/" behind them; or
 *                      nil and why it cannot be read
 *   make_folder(path)  true, also if it is there already; or nil and a sentence
 *   file_kind(path)    "file", "folder", "link" or "other"; nil: there is nothing
 *   file_bytes(path)   how large the file is that the path leads to; or nil and why it is none
 *   real_path(path)    the path without links, "." and ".."; nil: it leads to nothing */
void folder_open(lua_State *L);

/* And (recorded.c)
 *   run_recorded({command, argument, ...}, {NAME = value})
 * which runs a program in this one's place, with these added to the environment, and returns when
 * it has ended: its exit status, and whether a signal ended it (then 128 + its number). Ctrl-C is
 * the program's. nil, a reason, and 126 or 127 if it cannot be run. */
void recorded_open(lua_State *L);

/* And (deflate.c)
 *   deflate(text)  the text, compressed (RFC 1951), its checksum (CRC-32), and whether it looks
 *                  like text rather than like numbers */
void deflate_open(lua_State *L);

#endif
