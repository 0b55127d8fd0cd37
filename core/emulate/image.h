/* image.h - what a build makes of a kernel: two shared objects in one container. */
#ifndef SL_EMULATE_IMAGE_H
#define SL_EMULATE_IMAGE_H

#include "../backend.h"
#include "abi.h"
#include "sections.h"

typedef enum emu_build { EMU_FAST, EMU_CHECKED, EMU_BUILDS } emu_build;

typedef struct emu_object { /* a shared object: its file's bytes */
    void *data;
    size_t bytes;
} emu_object;

/* SL_ENOMEM. */
sl_status emu_image_pack(const emu_object objects[EMU_BUILDS], sl_image *image, sl_error *err);
/* The objects point into the image. SL_EIO: it is broken. */
sl_status emu_image_unpack(const sl_image *image, emu_object objects[EMU_BUILDS], sl_error *err);

typedef struct emu_loaded {
    void *handle;                        /* of dlopen */
    const emu_entry *(*get_entry)(void); /* code of the kernel's: only its own process calls it */
    emu_sections sections;
    emu_object object; /* a copy of its file, for reports */
    char *base;        /* where it is loaded */
} emu_loaded;
/* SL_EIO: it cannot be loaded. */
sl_status emu_object_load(const emu_object *object, emu_loaded *loaded, sl_error *err);
void emu_object_unload(emu_loaded *loaded);

/* ---- imports.c ---- */

/* Whether it is on the list; `name` is a symbol that a compiled kernel does not define. The
 * checked build may have none that reads or writes where the kernel says: it has its own, with
 * checks (device/compiler_calls.c). */
bool emu_import_is_known(const char *name, bool is_checked);

/* ---- inspect.c ---- */

/* SL_ECOMPILE: loading it would run code of its own (constructors, variables that are computed, a
 * resolver), or load libraries other than C's, or it uses of those what is not on a list
 * (imports.c). `is_checked`: it is the checked build, to which the compiler adds a function that
 * the loader would call; it is taken out of the object instead. */
sl_status emu_object_inspect(emu_object *object, bool is_checked, sl_error *err);

#endif
