/* embedded.h - the program's own Lua code, which is built in: the Lua files of repl/
 * and docs/api.
 *
 * They run in an environment of their own (embedded_open), so that nothing that a script
 * does to its globals reaches them. It holds what the standard libraries and `lab` held
 * at the start, `_G` (the script's globals), and
 *   import(path)         what that file returns: import "repl/console/values/pretty.lua". It
 *                        runs once.
 *   embedded(prefix)     the paths that begin so, sorted
 *   embedded_text(path)  the bytes of one
 *   internals            what the bindings keep for the program (bindings/streamlab.c)
 *   program              what C files of repl/ add (embedded_add)
 */
#ifndef REPL_EMBEDDED_H
#define REPL_EMBEDDED_H

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

/* As scripts/embed.sh writes them at build time; the names are paths from the root of the
 * source tree. An entry without a name ends it. */
typedef struct embedded_file {
    const char *name;
    const char *data;
    size_t len;
} embedded_file;

extern const embedded_file embedded_files[];
/* Those that each start reads, compiled when the program was built, for its own Lua. */
extern const embedded_file compiled_files[];

/* Makes the environment of what the globals hold now, with `pcall` as its pcall; or adds that to
 * the environment that there is. */
void embedded_open(lua_State *L, lua_CFunction pcall);

/* Adds functions to the environment's table `program`; raises if there is one of that name. */
void embedded_add(lua_State *L, const luaL_Reg *functions);

/* For such a function, where the system refuses: raises the text (as lua_pushfstring makes it)
 * without a position, which would be one of the program's own code. */
int embedded_fail(lua_State *L, const char *format, ...);

/* Pushes the file's chunk, or an error; returns the Lua status. Its name is the
 * prelude's, so that no position and no traceback shows lines that the user cannot see. */
int embedded_load(lua_State *L, const char *path);

/* Whether the file has been imported already. */
bool embedded_is_imported(lua_State *L, const char *path);

/* Pushes what the file returns; raises what it raises. */
void embedded_import(lua_State *L, const char *path);

/* Pushes what calls the function `name` of the table that the file returns. While it runs,
 * strings have the methods of the start (repl/run/strings.lua). */
void embedded_function(lua_State *L, const char *path, const char *name);

#endif
