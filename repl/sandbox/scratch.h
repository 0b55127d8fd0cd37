/* scratch.h - folders for compilers' files, which are removed with all that is in them. */
#ifndef REPL_SCRATCH_H
#define REPL_SCRATCH_H

#include <lua.h>

/* Adds to the program's functions for its own Lua code:
 *   make_scratch()        a new folder below $TMPDIR or /tmp, for this user alone: its path
 *   remove_scratch(path)  that folder, with everything in it; links are removed, not followed */
void scratch_add(lua_State *L);

#endif
