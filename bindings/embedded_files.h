/* embedded_files.h - the Lua files that are built into the program and the module:
 * the Lua part of bindings/ (prelude.lua and its neighbours) and the GPU profiles
 * (scripts/profiles/).
 * Their definition is generated at build time; names are paths from the root of
 * the source tree ("scripts/profiles/h200.lua"). An entry without a name ends it.
 */
#ifndef LSL_EMBEDDED_FILES_H
#define LSL_EMBEDDED_FILES_H

#include <stddef.h>

typedef struct lsl_embedded {
    const char *name;
    const char *data;
    size_t len;
} lsl_embedded;

extern const lsl_embedded lsl_embedded_files[];

/* Those that each start reads, compiled when the program is built, for the Lua that it is linked
 * with: to compile them takes longer than all else of a start. The module, which any Lua 5.4 may
 * load, has none (compiled_none.c), nor have programs for other machines. */
extern const lsl_embedded lsl_compiled_files[];

#endif
