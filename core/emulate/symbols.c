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
        unsigned long n;
        if (!isdigit((unsigned char)*at)) continue;
        n = strtoul(at, &end, 10);
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

static int compare(const void *a, const void *b)
{
    const emu_symbol *x = a, *y = b;
    return x->data < y->data ? -1 : x->data > y->data;
}

const emu_symbol *emu_symbols_find(const emu_symbols *symbols, const void *address)
{
    const char *wanted = address;
    const emu_symbol *found;
    size_t at;
    SL__SEARCH(at, symbols->n, symbols->all[at].data <= wanted);
    if (at == 0) return NULL;
    found = &symbols->all[at - 1]; /* the last one that begins at the address or before it */
    return (size_t)(wanted - found->data) < found->bytes ? found : NULL;
}

#ifdef __ELF__
#include <elf.h>
#include <link.h>

static bool read_at(const emu_object *o, uint64_t at, void *to, size_t n)
{
    if (at > o->bytes || n > o->bytes - at) return false;
    memcpy(to, (const char *)o->data + at, n);
    return true;
}

static bool section(const emu_object *o, const ElfW(Ehdr) * head, unsigned i, ElfW(Shdr) * header)
{
    return i < head->e_shnum
           && read_at(o, head->e_shoff + (uint64_t)i * sizeof *header, header, sizeof *header);
}

static void read_text(const emu_object *o, uint64_t at, char text[MOST_NAME])
{
    size_t i = 0;
    while (i < MOST_NAME - 1 && read_at(o, at + i, &text[i], 1) && text[i])
        i++;
    text[i] = '\0';
}

static void read_table(const emu_object *o, const ElfW(Shdr) * table, const ElfW(Shdr) * strings,
                       char *base, emu_symbols *symbols)
{
    ElfW(Sym) symbol;
    char name[MOST_NAME];

    for (uint64_t at = 0; at + sizeof symbol <= table->sh_size; at += sizeof symbol) {
        if (!read_at(o, table->sh_offset + at, &symbol, sizeof symbol)) return;
        if ((symbol.st_info & 0xf) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF
            || symbol.st_size == 0 || symbols->n == MOST_SYMBOLS)
            continue;
        emu_symbol *to = &symbols->all[symbols->n++];
        *to = (emu_symbol){ .data = base + symbol.st_value, .bytes = (size_t)symbol.st_size };
        read_text(o, strings->sh_offset + symbol.st_name, name);
        take_name(name, to->name);
    }
}

void emu_symbols_read(const emu_object *object, char *base, emu_symbols *symbols)
{
    ElfW(Ehdr) head;
    ElfW(Shdr) table, strings;

    *symbols = (emu_symbols){ .all = malloc(MOST_SYMBOLS * sizeof *symbols->all) };
    if (!symbols->all || !read_at(object, 0, &head, sizeof head)) return;
    for (unsigned i = 0; i < head.e_shnum; i++)
        if (section(object, &head, i, &table) && table.sh_type == SHT_SYMTAB
            && section(object, &head, table.sh_link, &strings))
            read_table(object, &table, &strings, base, symbols);
    qsort(symbols->all, symbols->n, sizeof *symbols->all, compare);
}

#else

void emu_symbols_read(const emu_object *object, char *base, emu_symbols *symbols)
{
    (void)object, (void)base;
    *symbols = (emu_symbols){ NULL, 0 };
}

#endif
