/* memory.h - the memory of the program's Lua state. */
#ifndef MEMORY_H
#define MEMORY_H

#include <lua.h>

/* Gives the state an allocator that keeps small blocks for later ones of their size. */
void memory_open(lua_State *L);
/* Frees what it keeps, after lua_close. */
void memory_close(void);

#endif
