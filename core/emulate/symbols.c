/* symbols.c - reads the table of symbols of a compiled kernel. */
#include "symbols.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SYMBOLS = 4096, MOST_NAME = 512 };

/* From "_ZZ4kernPfE4tile" to "tile": the last name that has its length in front of it. */
static void take_name(const char *mangled, char name[64])
{
    const char *best = mangled;
    size_t length = strcspn(mangled, ".");
    for (const char *at = mangled; *at && strncmp(mangled, "_Z", 2) == 0; at++) {
        char *end;
        if (!isdigit((unsigned char)*at)) continue;
        unsigned long n = strtoul(at, &end, 10);
        at = end - 1;
        if (n == 0 || n > strlen(end) || isdigit((unsigned char)*end)) continue;
        best = end;
        length = n;
        at = end + n - 1;
    }
    if (length > 63) length = 63;
    memcpy(name, best, length);
    name[length] = '\0';
}

SL__ORDER(by_address, emu_symbol, x->data);

const emu_symbol *emu_symbols_find(const emu_symbols *symbols, const void *address)
{
    const char *wanted = address;
    size_t at;
    SL__SEARCH(at, symbols->n, symbols->all[at].data <= wanted);
    if (at == 0) return NULL;
    const emu_symbol
        *found = &symbols->all[at - 1]; /* the last one that begins at the address or before it */
    return (size_t)(wanted - found->data) < found->bytes ? found : NULL;
}

#ifdef __ELF__
#include "elf_file.h"

static void read_table(const emu_elf *file, const ElfW(Shdr) * table, const ElfW(Shdr) * strings,
                       char *base, emu_symbols *symbols)
{
    ElfW(Sym) symbol;
    char name[MOST_NAME];

    for (uint64_t at = 0; at + sizeof symbol <= table->sh_size; at += sizeof symbol) {
        if (!emu_elf_read(file, table->sh_offset + at, &symbol, sizeof symbol)) return;
        if ((symbol.st_info & 0xf) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF
            || symbol.st_size == 0 || symbols->n == MOST_SYMBOLS)
            continue;
        emu_symbol *to = &symbols->all[symbols->n++];
        *to = (emu_symbol){ .data = base + symbol.st_value, .bytes = (size_t)symbol.st_size };
        emu_elf_text(file, strings->sh_offset + symbol.st_name, name, sizeof name);
        take_name(name, to->name);
    }
}

void emu_symbols_read(const emu_object *object, char *base, emu_symbols *symbols)
{
    ElfW(Shdr) table, strings;
    emu_elf file;

    *symbols = (emu_symbols){ .all = malloc(MOST_SYMBOLS * sizeof *symbols->all) };
    if (!symbols->all || !emu_elf_open(&file, object->data, object->bytes)) return;
    for (unsigned i = 0; i < file.head.e_shnum; i++)
        if (emu_elf_section(&file, i, &table) && table.sh_type == SHT_SYMTAB
            && emu_elf_section(&file, table.sh_link, &strings))
            read_table(&file, &table, &strings, base, symbols);
    qsort(symbols->all, symbols->n, sizeof *symbols->all, by_address);
}

#else

void emu_symbols_read(const emu_object *object, char *base, emu_symbols *symbols)
{
    (void)object, (void)base;
    *symbols = (emu_symbols){ NULL, 0 };
}

#endif
