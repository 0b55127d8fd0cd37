/* sections.h - what variables a compiled kernel has, by the sections that language.h puts them
 * in. */
#ifndef SL_EMULATE_SECTIONS_H
#define SL_EMULATE_SECTIONS_H

#include "../backend.h"

enum { EMU_MOST_SHARED = 64 };

typedef struct emu_span {
    char *data;
    size_t bytes;
} emu_span;

typedef struct emu_sections {
    emu_span shared[EMU_MOST_SHARED]; /* its variables in shared memory, in their order */
    uint32_t n_shared;
    size_t shared_bytes; /* of all of them */
    emu_span dynamic;    /* data NULL: it uses no dynamic shared memory */
    emu_span state;      /* the emulator's own variables */
    char changed[64]; /* a variable that is none of these, and can be changed; "": there is none */
    bool is_ordered;  /* it has atomics: the order of its blocks matters */
} emu_sections;

/* Reads the object's section headers and symbols. `base`: where it is loaded; NULL: data are
 * offsets. SL_EIO: the object is broken. */
sl_status emu_sections_read(const void *object, size_t bytes, char *base, emu_sections *sections,
                            sl_error *err);

bool emu_sections_is_shared(const emu_sections *sections, const void *address);

#endif
