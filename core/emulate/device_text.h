/* device_text.h - the files of core/emulate/device/ and abi.h, built into the library. Their
 * definition is generated at build time; names are paths from the root of the source tree. An entry
 * without a name ends it. */
#ifndef SL_EMULATE_DEVICE_TEXT_H
#define SL_EMULATE_DEVICE_TEXT_H

#include <stddef.h>

typedef struct emu_device_file {
    const char *name;
    const char *data; /* NUL-terminated */
    size_t len;
} emu_device_file;

extern const emu_device_file emu_device_files[];

#endif
