/* rc.h - the user's start file of the REPL.
 *
 * STREAMLAB_RC names it (empty: there is none); else it is the first that exists of
 * streamlab/rc.lua in $XDG_CONFIG_HOME or ~/.config, and ~/.streamlabrc.
 */
#ifndef REPL_RC_H
#define REPL_RC_H

#include <lua.h>

/* Runs it. What is wrong with it is reported, and nothing else comes of that. */
void rc_run(lua_State *L);

#endif
