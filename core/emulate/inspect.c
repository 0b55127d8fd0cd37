/* inspect.c - reads a shared object's dynamic section and symbols as the loader will.
 *
 * The loader goes by the program headers, so sections are not looked at. Objects that are not ELF
 * of this machine's word size are refused. */
#include "image.h"

#ifdef __ELF__
#include "elf_file.h"

typedef struct object {
    emu_elf file;
    unsigned char *data; /* of the file */
    bool is_checked;
    sl_error *err;
} object;

typedef struct tables { /* addresses in the loaded object */
    uint64_t strings, symbols, relocations[3], relocations_bytes[3];
} tables;

static sl_status refuse(const object *o, const char *why)
{
    return sl_fail(o->err, SL_ECOMPILE, "%s", why);
}

static sl_status broken(const object *o)
{
    return refuse(o, "the compiler's file is not what a loader expects");
}

static bool segment(const object *o, unsigned i, ElfW(Phdr) * header)
{
    return emu_elf_read(&o->file, o->file.head.e_phoff + (uint64_t)i * sizeof *header, header,
                        sizeof *header);
}

/* Where in the file the bytes at an address come from; UINT64_MAX: from nowhere. */
static uint64_t offset_of(const object *o, uint64_t address)
{
    ElfW(Phdr) header;

    for (unsigned i = 0; i < o->file.head.e_phnum && segment(o, i, &header); i++)
        if (header.p_type == PT_LOAD && address >= header.p_vaddr
            && address - header.p_vaddr < header.p_filesz)
            return header.p_offset + (address - header.p_vaddr);
    return UINT64_MAX;
}

/* ---- the dynamic section ---- */

/* False: it ends outside of the file. */
static bool read_name(const object *o, const tables *t, uint64_t name, char text[64])
{
    return emu_elf_text(&o->file, offset_of(o, t->strings + name), text, 64);
}

static sl_status check_library(const object *o, const tables *t, uint64_t name)
{
    static const char *const known[] = { "libc.so", "libm.so", "libgcc_s.so", "ld-linux" };
    char text[64];
    if (!read_name(o, t, name, text)) return broken(o);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(text, known[i], strlen(known[i])) == 0) return SL_OK;
    return sl_fail(o->err, SL_ECOMPILE, "a kernel needs no library, and this one needs %.60s",
                   text);
}

static sl_status check_entry(const object *o, const ElfW(Dyn) * entry, tables *t)
{
    uint64_t value = entry->d_un.d_val;
    switch (entry->d_tag) {
    case DT_INIT:
    case DT_FINI:
    case DT_PREINIT_ARRAYSZ:
    case DT_INIT_ARRAYSZ:
    case DT_FINI_ARRAYSZ:
        if (value == 0) return SL_OK;
        return refuse(o, "a variable outside of the functions is computed when the kernel is "
                         "loaded, or a function is called then: here its value must be a constant");
    case DT_AUDIT:
    case DT_DEPAUDIT:
    case DT_FILTER:
    case DT_AUXILIARY: return refuse(o, "it names libraries that are loaded with it");
    case DT_STRTAB: t->strings = value; break;
    case DT_SYMTAB: t->symbols = value; break;
    case DT_RELA: t->relocations[0] = value; break;
    case DT_RELASZ: t->relocations_bytes[0] = value; break;
    case DT_JMPREL: t->relocations[1] = value; break;
    case DT_PLTRELSZ: t->relocations_bytes[1] = value; break;
    case DT_REL: t->relocations[2] = value; break;
    case DT_RELSZ: t->relocations_bytes[2] = value; break;
    default: break;
    }
    return SL_OK;
}

/* A list of functions of 0 bytes is none. */
static bool disarm(const object *o, uint64_t at, const ElfW(Dyn) * entry)
{
    const ElfW(Dyn) none = { .d_tag = entry->d_tag };
    if (!o->is_checked || entry->d_tag != DT_INIT_ARRAYSZ) return false;
    memcpy(o->data + at, &none, sizeof none); /* read_at has seen that it is in the file */
    return true;
}

static sl_status check_dynamic(const object *o, const ElfW(Phdr) * header, tables *t)
{
    size_t n = header->p_filesz / sizeof(ElfW(Dyn));
    sl_status status = SL_OK;
    ElfW(Dyn) entry;

    for (size_t i = 0; i < n && status == SL_OK; i++) {
        if (!emu_elf_read(&o->file, header->p_offset + i * sizeof entry, &entry, sizeof entry))
            return broken(o);
        if (entry.d_tag == DT_NULL) break;
        if (disarm(o, header->p_offset + i * sizeof entry, &entry)) continue;
        status = check_entry(o, &entry, t);
    }
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        emu_elf_read(&o->file, header->p_offset + i * sizeof entry, &entry, sizeof entry);
        if (entry.d_tag == DT_NULL) break;
        if (entry.d_tag == DT_NEEDED) status = check_library(o, t, entry.d_un.d_val);
    }
    return status;
}

/* ---- symbols and relocations ---- */

/* What the object does not define comes from the C library. */
static sl_status check_import(const object *o, const tables *t, const ElfW(Sym) * symbol)
{
    char name[64];
    if (symbol->st_shndx != SHN_UNDEF || symbol->st_name == 0) return SL_OK;
    if (!read_name(o, t, symbol->st_name, name)) return broken(o);
    if (emu_import_is_known(name, o->is_checked)) return SL_OK;
    return sl_fail(o->err, SL_ECOMPILE,
                   "%s is refused here: a kernel calls functions of CUDA's, and none of the host's",
                   name);
}

/* An indirect function's resolver is called by the loader. Symbols lie before the strings, and
 * nothing says how many there are. */
static sl_status check_symbols(const object *o, const tables *t)
{
    uint64_t at = offset_of(o, t->symbols), end = offset_of(o, t->strings);
    ElfW(Sym) symbol;

    if (at == UINT64_MAX || end == UINT64_MAX || end < at) return broken(o);
    for (; at + sizeof symbol <= end; at += sizeof symbol) {
        if (!emu_elf_read(&o->file, at, &symbol, sizeof symbol)) return broken(o);
        if ((symbol.st_info & 0xf) == STT_GNU_IFUNC)
            return refuse(o, "it has an indirect function");
        sl_status status = check_import(o, t, &symbol);
        if (status != SL_OK) return status;
    }
    return SL_OK;
}

static bool is_indirect(uint64_t info)
{
#if defined __x86_64__
    return (info & 0xffffffff) == R_X86_64_IRELATIVE;
#elif defined __aarch64__
    return (info & 0xffffffff) == R_AARCH64_IRELATIVE;
#else
    (void)info;
    return false;
#endif
}

static sl_status check_relocations(const object *o, uint64_t address, uint64_t bytes, size_t each)
{
    uint64_t at = offset_of(o, address);
    ElfW(Rel) relocation; /* a Rela begins alike */

    if (bytes == 0) return SL_OK;
    if (at == UINT64_MAX) return broken(o);
    for (uint64_t i = 0; i + each <= bytes; i += each) {
        if (!emu_elf_read(&o->file, at + i, &relocation, sizeof relocation)) return broken(o);
        if (is_indirect(relocation.r_info)) return refuse(o, "it has an indirect function");
    }
    return SL_OK;
}

static sl_status check_tables(const object *o, const tables *t)
{
    sl_status status = check_symbols(o, t);
    for (int i = 0; i < 3 && status == SL_OK; i++)
        status = check_relocations(o, t->relocations[i], t->relocations_bytes[i],
                                   i == 2 ? sizeof(ElfW(Rel)) : sizeof(ElfW(Rela)));
    return status;
}

sl_status emu_object_inspect(emu_object *file, bool is_checked, sl_error *err)
{
    object o = { .data = file->data, .is_checked = is_checked, .err = err };
    tables t = { 0 };
    ElfW(Phdr) header;
    bool found = false;
    const unsigned char class = sizeof(ElfW(Addr)) == 8 ? ELFCLASS64 : ELFCLASS32;

    if (!emu_elf_open(&o.file, file->data, file->bytes)
        || o.file.head.e_ident[EI_CLASS] != class || o.file.head.e_phentsize != sizeof header)
        return broken(&o);
    for (unsigned i = 0; i < o.file.head.e_phnum; i++) {
        if (!segment(&o, i, &header)) return broken(&o);
        if (header.p_type != PT_DYNAMIC) continue;
        if (found) return broken(&o);
        found = true;
        sl_status status = check_dynamic(&o, &header, &t);
        if (status != SL_OK) return status;
    }
    return found && t.strings && t.symbols ? check_tables(&o, &t) : broken(&o);
}

#else

sl_status emu_object_inspect(emu_object *file, bool is_checked, sl_error *err)
{
    (void)file, (void)is_checked;
    return sl_fail(err, SL_EUNSUPPORTED,
                   "this system's shared objects cannot be inspected, so "
                   "kernels of strangers are not run here");
}

#endif
