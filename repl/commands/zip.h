/* zip.h - makes .zip files.
 *
 * zip.c uses minizip; zip_none.c takes its place in a build without.
 */
#ifndef REPL_ZIP_H
#define REPL_ZIP_H

#include <lua.h>

/* Adds to the program's functions for its own Lua code
 *   zip({{name=, data=, executable=bool}, ...})
 * which gives the bytes of the file, and raises one sentence if it cannot. The same entries
 * give the same bytes (where zlib is the same): they are in the order of the list,
 * deflated, of 1980-01-01 and with the permissions 0644 or 0755. */
void zip_writer_open(lua_State *L);

#endif
