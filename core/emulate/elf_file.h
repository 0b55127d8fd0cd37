/* elf_file.h - the parts of an ELF file, which may be anybody's: what lies outside of its bytes is
 * not read. Only where the system's objects are ELF (__ELF__). */
#ifndef SL_EMULATE_ELF_FILE_H
#define SL_EMULATE_ELF_FILE_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct emu_elf {
    const char *data;
    size_t bytes;
    ElfW(Ehdr) head;
} emu_elf;

static inline bool emu_elf_read(const emu_elf *file, uint64_t at, void *to, size_t n)
{
    if (at > file->bytes || n > file->bytes - at) return false;
    memcpy(to, file->data + at, n);
    return true;
}

/* False: it is no ELF file. */
static inline bool emu_elf_open(emu_elf *file, const void *data, size_t bytes)
{
    *file = (emu_elf){ .data = data, .bytes = bytes };
    return emu_elf_read(file, 0, &file->head, sizeof file->head)
           && memcmp(file->head.e_ident, ELFMAG, SELFMAG) == 0;
}

static inline bool emu_elf_section(const emu_elf *file, unsigned i, ElfW(Shdr) * header)
{
    return i < file->head.e_shnum
           && emu_elf_read(file, file->head.e_shoff + (uint64_t)i * sizeof *header, header,
                           sizeof *header);
}

/* The text there, cut where it does not fit. False: the file ends in it. */
static inline bool emu_elf_text(const emu_elf *file, uint64_t at, char *text, size_t room)
{
    memset(text, 0, room);
    for (size_t i = 0; i < room - 1; i++) {
        if (!emu_elf_read(file, at + i, &text[i], 1)) return false;
        if (!text[i]) break;
    }
    return true;
}

#endif
