/* traceback.h - an error as the user sees it: the message, then the user's lines.
 */
#ifndef REPL_TRACEBACK_H
#define REPL_TRACEBACK_H

#include <lua.h>
#include <stdbool.h>

/* A message handler for lua_pcall: turns the error value into a text with a
 * traceback of the frames of the user's own files. With STREAMLAB_DEBUG=1 in
 * the environment, of all frames. The parts of it are kept for traceback_take_report. */
int traceback_handler(lua_State *L);

/* Whether STREAMLAB_DEBUG=1 is set. */
bool traceback_wants_all(void);

/* Notes that the latest error was that of Ctrl-C. */
void traceback_mark_interrupted(lua_State *L);

/* Pushes what the handler collected for the text on the stack's top, which it made:
 *   {message =, frames = {{text =, source =, name =, line =, main =}, ...}, op =, code =,
 *    interrupted =}
 * op and code are those of an error of the laboratory. Of another text, which no handler
 * has seen, it is the message. */
void traceback_take_report(lua_State *L);

#endif
