/* undefined.h - a warning for {option = name} where there is no such variable (undefined.lua). */
#ifndef REPL_UNDEFINED_H
#define REPL_UNDEFINED_H

#include <lua.h>

/* Looks at the chunk that has just been loaded: "@lab.lua", "=(command line)", "=lab[3]". Never
 * raises. */
void undefined_look(lua_State *L, const char *source);

#endif
