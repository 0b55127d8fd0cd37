/* source.h - what a kernel's source has that C++ has not: `extern __shared__`. */
#ifndef SL_EMULATE_SOURCE_H
#define SL_EMULATE_SOURCE_H

#include "text.h"

/* Adds the source to *unit, so that a C++ compiler reads its dynamic shared memory as external
 * variables, and their definitions, all at one address, to *definitions. Lines stay what they are. */
void emu_source_add(const char *source, emu_text *unit, emu_text *definitions);
/* Adds an #undef of each name in the text but for our own macros (EMU_), which a stranger's source
 * cannot name: what follows then means what it says. */
void emu_source_undefine(const char *text, emu_text *unit);

#endif
