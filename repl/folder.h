/* folder.h - lists folders, for completion.
 */
#ifndef REPL_FOLDER_H
#define REPL_FOLDER_H

#include <lua.h>

/* Adds folder(path) to the program's functions for its own Lua code: a list of the names
 * in it, those of folders with "/" behind them; nil if it cannot be read. */
void folder_open(lua_State *L);

#endif
