/* folder.h - lists folders, makes them, and says what a path is.
 */
#ifndef REPL_FOLDER_H
#define REPL_FOLDER_H

#include <lua.h>

/* Adds to the program's functions for its own Lua code
 *   folder(path)       a list of the names in it, those of folders with "/" behind them; or
 *                      nil and why it cannot be read
 *   make_folder(path)  true, also if it is there already; or nil and a sentence
 *   file_kind(path)    "file", "folder", "link" or "other"; nil: there is nothing
 *   file_bytes(path)   how large the file is that the path leads to; or nil and why it is none
 *   real_path(path)    the path without links, "." and ".."; nil: it leads to nothing */
void folder_open(lua_State *L);

#endif
