/* lines.h - reads lines from stdin and runs each: -i, and no arguments at all.
 */
#ifndef REPL_LINES_H
#define REPL_LINES_H

#include <lua.h>
#include <stdbool.h>

/* Until the end of stdin. An expression's values are printed; a statement may go
 * on over several lines. Errors are printed and reading goes on. Prompts appear
 * only on a terminal. */
void lines_run(lua_State *L);

/* Whether stdin is a terminal. */
bool lines_from_terminal(void);

#endif
