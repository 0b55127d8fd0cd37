/* console.h - reads entries from stdin and runs each: the REPL, and -i.
 *
 * repl/console/ is the prompt: compiling and running what is typed, showing values, help, and
 * commands with a dot.
 */
#ifndef REPL_CONSOLE_H
#define REPL_CONSOLE_H

#include <lua.h>
#include <stdbool.h>

#include "../editor/lineedit.h"
#include "../run/options.h"

/* Until the end of stdin. The values of an expression are shown; an entry may go on over
 * several lines. Errors are reported and reading goes on. Prompts, the banner (if wanted)
 * and editing are for terminals only. */
void console_run(lua_State *L, const options *o, bool banner);

/* Runs the user's start file (rc.c). STREAMLAB_RC names it (empty: there is none); else it is
 * the first that exists of streamlab/rc.lua in $XDG_CONFIG_HOME or ~/.config, and ~/.streamlabrc.
 * What is wrong with it is reported, and nothing else comes of that. */
void rc_run(lua_State *L);

/* What there is to do at the end, also when a script calls os.exit: a trace that is recorded
 * is saved. A second call finds nothing to do. */
void console_close(lua_State *L);

/* What the editor asks about an entry (typing.c); the context is the lua_State. */
extern const lineedit_language console_language;

#endif
