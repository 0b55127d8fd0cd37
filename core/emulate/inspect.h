/* inspect.h - what a compiled kernel does when it is loaded, and what it calls. */
#ifndef SL_EMULATE_INSPECT_H
#define SL_EMULATE_INSPECT_H

#include "image.h"

/* SL_ECOMPILE: loading it would run code of its own (constructors, variables that are computed, a
 * resolver), or load libraries other than C's, or it uses of those what is not on a list
 * (imports.h). `is_checked`: it is the checked build, to which the compiler adds a function that
 * the loader would call; it is taken out of the object instead. */
sl_status emu_object_inspect(emu_object *object, bool is_checked, sl_error *err);

#endif
