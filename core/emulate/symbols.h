/* symbols.h - the variables of a compiled kernel, with their names in the source. */
#ifndef SL_EMULATE_SYMBOLS_H
#define SL_EMULATE_SYMBOLS_H

#include "image.h"

typedef struct emu_symbol {
    char *data;
    size_t bytes;
    char name[64];
} emu_symbol;

typedef struct emu_symbols {
    emu_symbol *all; /* of malloc, by their addresses */
    size_t n;
} emu_symbols;

/* None if the object has no table of symbols, or a broken one. */
void emu_symbols_read(const emu_object *object, char *base, emu_symbols *symbols);
/* The one that has the address, or NULL. */
const emu_symbol *emu_symbols_find(const emu_symbols *symbols, const void *address);

#endif
