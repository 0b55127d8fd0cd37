/* sources.h - the text of the chunks that the program runs, from which errors and explanations
 * quote lines.
 *
 * A chunk goes by what lua_Debug calls its source: "@lab.lua", "=(command line)",
 * "=lab[3]". A file is read again when a line of it is wanted, and only if it is still
 * the one that was loaded; other texts are kept: registry["streamlab.entries"][source],
 * which is false where several texts go by one name.
 */
#ifndef REPL_SOURCES_H
#define REPL_SOURCES_H

#include <lua.h>

/* luaL_loadfilex, after noting the file; no path is stdin. */
int sources_load_file(lua_State *L, const char *path, const char *mode);

/* Keeps the text of a chunk of that name. */
void sources_note_text(lua_State *L, const char *name, const char *text);

/* As luaL_loadfile for stdin, whose text is kept. */
int sources_load_stdin(lua_State *L);

/* Warns of {option = name} where there is no such variable (undefined.lua), in the chunk that
 * has just been loaded: "@lab.lua", "=(command line)", "=lab[3]". Never raises. */
void sources_look(lua_State *L, const char *source);

/* Puts functions that note the file in the place of Lua's dofile, loadfile and the searcher
 * of require. Before embedded_open. */
void sources_open(lua_State *L);

/* Adds to the table `program` of the program's own Lua code (embedded.h):
 *   source(name, main)  the chunk's text, or nil; main: it is wanted for a main chunk, which
 *                       can only be of the latest text of that name
 *   files()             the sources of the files that were loaded: "@lab.lua" -> stamp
 *   entries()           registry["streamlab.entries"] */
void sources_add(lua_State *L);

#endif
