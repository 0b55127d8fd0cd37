/* imports.h - what a stranger's kernel may have of the C library. */
#ifndef SL_EMULATE_IMPORTS_H
#define SL_EMULATE_IMPORTS_H

#include <stdbool.h>

/* Whether it is on the list; `name` is a symbol that a compiled kernel does not define. The
 * checked build may have none that reads or writes where the kernel says: it has its own, with
 * checks (device/checks.h). */
bool emu_import_is_known(const char *name, bool is_checked);

#endif
