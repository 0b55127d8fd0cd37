/* mute.h - sends what is written to stdout nowhere, for a while.
 */
#ifndef REPL_MUTE_H
#define REPL_MUTE_H

#include <lua.h>

/* Adds to the program's functions for its own Lua code
 *   mute()    until unmute() nothing of what is written to stdout is seen, neither by Lua, nor
 *             by the laboratory's pictures, nor by programs that are started
 *   unmute()  stdout is as before; again: nothing */
void mute_add(lua_State *L);

#endif
