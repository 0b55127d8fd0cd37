/* unit.h - the text that is compiled: CUDA for the host, the user's source, and what calls it. */
#ifndef SL_EMULATE_UNIT_H
#define SL_EMULATE_UNIT_H

#include "../backend.h"
#include "text.h"

/* The source's file name for the compiler: its own, where that is plain. Those of strangers have one
 * name, so that nothing that a kernel computes depends on it (__FILE__). */
const char *emu_unit_file(const sl_custom *kernel);

/* SL_ENOMEM; SL_ECOMPILE: the source cannot be read, from its line *line on. */
sl_status emu_unit_write(const sl_custom *kernel, emu_text *unit, int *line, sl_error *err);

#endif
