/* unit.h - the text that is compiled: CUDA for the host, the user's source, and what calls it. */
#ifndef SL_EMULATE_UNIT_H
#define SL_EMULATE_UNIT_H

#include "../backend.h"
#include "growing_text.h"

/* The source's file name for the compiler: its own, where that is plain. Those of strangers have
 * one name, so that nothing that a kernel computes depends on it (__FILE__). */
const char *emu_unit_file(const sl_custom *kernel);

/* SL_ENOMEM; SL_ECOMPILE: the source cannot be read, from its line *line on. */
sl_status emu_unit_write(const sl_custom *kernel, emu_text *unit, int *line, sl_error *err);

/* ---- headers.c ---- */

/* Writes them into the folder, which is to be the first one of the compiler's. SL_EIO. */
sl_status emu_headers_write(const char *folder, sl_error *err);

/* ---- source.c ---- */

/* Adds the source to *unit, so that a C++ compiler reads its dynamic shared memory as external
 * variables, and their definitions, all at one address, to *definitions. Lines stay what they
 * are. */
void emu_source_add(const char *source, emu_text *unit, emu_text *definitions);
/* Adds an #undef of each name in the text but for our own macros (EMU_), which an untrusted source
 * cannot name: what follows then means what it says. */
void emu_source_undefine(const char *text, emu_text *unit);

#endif
