/* traceback.h - an error as the user sees it: the message, then the user's lines.
 */
#ifndef REPL_TRACEBACK_H
#define REPL_TRACEBACK_H

#include <lua.h>

/* A message handler for lua_pcall: turns the error value into a text with a
 * traceback of the frames of the user's own files. With STREAMLAB_DEBUG=1 in
 * the environment, of all frames. */
int traceback_handler(lua_State *L);

#endif
