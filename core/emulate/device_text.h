/* device_text.h - the files of core/emulate/device/ and abi.h, built into the library. Their
 * definitions are generated at build time; names are paths from the root of the source tree. An
 * entry without a name ends it. */
#ifndef SL_EMULATE_DEVICE_TEXT_H
#define SL_EMULATE_DEVICE_TEXT_H

#include <stddef.h>

typedef struct emu_device_file {
    const char *name;
    const char *data; /* NUL-terminated */
    size_t len;
} emu_device_file;

extern const emu_device_file emu_device_files[];

/* device/compiler_calls.c as an object file, which is linked into checked builds. */
extern const unsigned char emu_compiler_calls[];
extern const size_t emu_compiler_calls_bytes;

#endif
