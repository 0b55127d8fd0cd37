/* sections.c - reads the section headers and the symbols of a compiled kernel. */
#include "sections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __ELF__
#include "elf_file.h"

typedef struct object {
    emu_elf file;
    char *base;
    ElfW(Shdr) names; /* of sections */
} object;

static bool name_of(const object *o, const ElfW(Shdr) * header, char name[32])
{
    return emu_elf_text(&o->file, o->names.sh_offset + header->sh_name, name, 32);
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static bool add_shared(emu_sections *to, emu_span span)
{
    if (to->n_shared == EMU_MOST_SHARED) return false;
    to->shared[to->n_shared++] = span;
    to->shared_bytes += span.bytes;
    return true;
}

static bool take(const object *o, const ElfW(Shdr) * header, const char *name, emu_sections *to)
{
    const emu_span span = { o->base + header->sh_addr, (size_t)header->sh_size };
    if (begins(name, "emu_shared.")) return add_shared(to, span);
    if (strcmp(name, "emu_dynamic") == 0) to->dynamic = span;
    if (strcmp(name, "emu_state") == 0) to->state = span;
    if (strcmp(name, "emu_ordered") == 0) to->is_ordered = true;
    return true;
}

/* ---- variables without a section of ours ---- */

static bool is_changeable(const object *o, unsigned index)
{
    ElfW(Shdr) header;
    char name[32];

    if (index == SHN_UNDEF || !emu_elf_section(&o->file, index, &header)
        || !name_of(o, &header, name))
        return false;
    return strcmp(name, ".data") == 0 || strcmp(name, ".bss") == 0 || strcmp(name, ".tdata") == 0
           || strcmp(name, ".tbss") == 0;
}

/* gcc forgets the section of a variable in a template (as of gcc 12). What a function keeps is
 * called _ZZ, the function's name, E, and its own: a template's name has its arguments behind it,
 * in I and E. */
static bool is_of_template(const char *name)
{
    if (!begins(name, "_ZZ")) return false;
    name += 3;
    while (*name && strchr("NKVL", *name))
        name++;
    while (*name >= '0' && *name <= '9') {
        char *end;
        size_t n = strtoul(name, &end, 10);
        if (n > strlen(end)) return false;
        name = end + n;
    }
    return *name == 'I';
}

/* What the source calls a variable that a function keeps; others have their own names. */
static const char *own_name(const char *name)
{
    const char *end = begins(name, "_ZZ") ? strrchr(name, 'E') : NULL;
    if (!end || !(end[1] >= '0' && end[1] <= '9')) return name;
    for (name = end + 1; *name >= '0' && *name <= '9'; name++)
        ;
    return name;
}

static bool take_symbol(const object *o, const ElfW(Sym) * symbol, const char *name,
                        emu_sections *to)
{
    if ((symbol->st_info & 0xf) != STT_OBJECT || !is_changeable(o, symbol->st_shndx)) return true;
    if (strstr(name, "emu_gap_")) return true;
    if (is_of_template(name))
        return add_shared(to, (emu_span){ o->base + symbol->st_value, (size_t)symbol->st_size });
    snprintf(to->changed, sizeof to->changed, "%.63s", own_name(name));
    return true;
}

static bool take_symbols(const object *o, const ElfW(Shdr) * table, emu_sections *to)
{
    ElfW(Shdr) strings;
    ElfW(Sym) symbol;
    char name[256];

    if (!emu_elf_section(&o->file, table->sh_link, &strings)) return false;
    for (uint64_t at = 0; at + sizeof symbol <= table->sh_size; at += sizeof symbol)
        if (!emu_elf_read(&o->file, table->sh_offset + at, &symbol, sizeof symbol)
            || !emu_elf_text(&o->file, strings.sh_offset + symbol.st_name, name, sizeof name)
            || !take_symbol(o, &symbol, name, to))
            return false;
    return true;
}

sl_status emu_sections_read(const void *data, size_t bytes, char *base, emu_sections *sections,
                            sl_error *err)
{
    object o = { .base = base };
    ElfW(Shdr) header;
    char name[32];
    bool fine = emu_elf_open(&o.file, data, bytes) && o.file.head.e_shentsize == sizeof header
                && emu_elf_section(&o.file, o.file.head.e_shstrndx, &o.names);

    *sections = (emu_sections){ .n_shared = 0 };
    for (unsigned i = 0; fine && i < o.file.head.e_shnum; i++)
        fine = emu_elf_section(&o.file, i, &header) && name_of(&o, &header, name)
               && take(&o, &header, name, sections)
               && (header.sh_type != SHT_SYMTAB || take_symbols(&o, &header, sections));
    if (fine) return SL_OK;
    return sl_fail(err, SL_EIO,
                   "a kernel with more than %d variables in shared memory, or whose "
                   "file is broken",
                   EMU_MOST_SHARED);
}

#else

sl_status emu_sections_read(const void *data, size_t bytes, char *base, emu_sections *sections,
                            sl_error *err)
{
    (void)data, (void)bytes, (void)base;
    *sections = (emu_sections){ .n_shared = 0 };
    return sl_fail(err, SL_EUNSUPPORTED, "kernels from strings are not run on this system");
}

#endif

static bool holds(emu_span span, const char *at)
{
    return at >= span.data && at < span.data + span.bytes;
}

bool emu_sections_is_shared(const emu_sections *sections, const void *address)
{
    for (uint32_t i = 0; i < sections->n_shared; i++)
        if (holds(sections->shared[i], address)) return true;
    return sections->dynamic.data && holds(sections->dynamic, address);
}
