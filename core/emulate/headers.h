/* headers.h - the headers that a kernel's source may include, as files for the compiler. */
#ifndef SL_EMULATE_HEADERS_H
#define SL_EMULATE_HEADERS_H

#include "../backend.h"

/* Writes them into the folder, which is to be the first one of the compiler's. SL_EIO. */
sl_status emu_headers_write(const char *folder, sl_error *err);

#endif
