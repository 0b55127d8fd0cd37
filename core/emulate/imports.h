/* imports.h - what a stranger's kernel may have of the C library. */
#ifndef SL_EMULATE_IMPORTS_H
#define SL_EMULATE_IMPORTS_H

#include <stdbool.h>

/* Whether it is on the list; `name` is a symbol that a compiled kernel does not define. */
bool emu_import_is_known(const char *name);

#endif
