/* symbol_file.c - reads the parts of a program's file. Nothing in it is believed before it is
 * checked against the file's size. */
#include "symbol_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base.h"

#define PART_MOST (UINT64_C(64) << 20)
enum { SECTIONS_MOST = 4096, READ_AT_ONCE = 1024 /* symbols */ };

typedef struct sections {
    Elf64_Shdr *all;
    size_t n;
    symbol_part names;
} sections;

bool symbol_part_read(const symbol_file *file, symbol_part part, uint64_t at, void *to, size_t n)
{
    size_t done = 0;
    if (at > part.bytes || n > part.bytes - at) return false;
    while (done < n) {
        const off_t from = (off_t)(part.at + at + done);
        const ssize_t got = pread(file->fd, (char *)to + done, n - done, from);
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

void symbol_part_text(const symbol_file *file, symbol_part part, uint64_t at, char *to,
                      size_t bytes)
{
    size_t n = at < part.bytes ? (size_t)sl__min(part.bytes - at, bytes - 1) : 0;
    if (!symbol_part_read(file, part, at, to, n)) n = 0;
    to[n] = '\0';
}

static symbol_part part_of(const symbol_file *file, const Elf64_Shdr *section)
{
    const uint64_t size = (uint64_t)file->info.st_size;
    if (section->sh_type == SHT_NOBITS || section->sh_flags & SHF_COMPRESSED
        || section->sh_offset > size || section->sh_size > size - section->sh_offset)
        return (symbol_part){ 0 };
    return (symbol_part){ section->sh_offset, section->sh_size };
}

static bool read_sections(const symbol_file *file, sections *s)
{
    const symbol_part whole = { 0, (uint64_t)file->info.st_size };
    Elf64_Ehdr head;
    if (!symbol_part_read(file, whole, 0, &head, sizeof head)
        || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64
        || head.e_shentsize != sizeof *s->all || head.e_shnum == 0 || head.e_shnum > SECTIONS_MOST
        || head.e_shstrndx >= head.e_shnum)
        return false;
    s->n = head.e_shnum;
    s->all = calloc(s->n, sizeof *s->all);
    if (!s->all || !symbol_part_read(file, whole, head.e_shoff, s->all, s->n * sizeof *s->all))
        return false;
    s->names = part_of(file, &s->all[head.e_shstrndx]);
    return true;
}

static symbol_part find_named(const symbol_file *file, const sections *s, const char *name)
{
    char found[32];
    for (size_t i = 0; i < s->n; i++) {
        symbol_part_text(file, s->names, s->all[i].sh_name, found, sizeof found);
        if (strcmp(found, name) == 0) return part_of(file, &s->all[i]);
    }
    return (symbol_part){ 0 };
}

static void find_symbols(symbol_file *file, const sections *s, uint32_t type)
{
    for (size_t i = 0; i < s->n && file->symbols.bytes == 0; i++) {
        if (s->all[i].sh_type != type || s->all[i].sh_link >= s->n) continue;
        file->symbols = part_of(file, &s->all[i]);
        if (file->symbols.bytes > PART_MOST) file->symbols.bytes = 0;
        file->names = part_of(file, &s->all[s->all[i].sh_link]);
    }
}

void symbol_file_find_parts(symbol_file *file)
{
    sections s = { 0 };
    if (read_sections(file, &s)) {
        find_symbols(file, &s, SHT_SYMTAB);
        find_symbols(file, &s, SHT_DYNSYM);
        file->lines = find_named(file, &s, ".debug_line");
        if (file->lines.bytes > PART_MOST) file->lines.bytes = 0;
        file->line_texts = find_named(file, &s, ".debug_line_str");
        file->texts = find_named(file, &s, ".debug_str");
    }
    free(s.all);
}

bool symbol_file_open(symbol_file *file, const char *path)
{
    *file = (symbol_file){ .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
    if (file->fd >= 0 && fstat(file->fd, &file->info) == 0 && S_ISREG(file->info.st_mode))
        return true;
    symbol_file_close(file);
    return false;
}

void symbol_file_close(symbol_file *file)
{
    if (file->fd >= 0) close(file->fd);
    file->fd = -1;
}

bool symbol_file_is_same(const symbol_file *one, const symbol_file *other)
{
    const struct stat *a = &one->info, *b = &other->info;
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size
           && a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

void symbol_file_list(const symbol_file *file, code_ranges *functions)
{
    Elf64_Sym *read = malloc(READ_AT_ONCE * sizeof *read);
    bool fine = read != NULL;
    const uint64_t n = file->symbols.bytes / sizeof *read;
    for (uint64_t from = 0; from < n && fine; from += READ_AT_ONCE) {
        const size_t here = (size_t)sl__min(n - from, READ_AT_ONCE);
        fine = symbol_part_read(file, file->symbols, from * sizeof *read, read,
                                here * sizeof *read);
        for (size_t i = 0; i < here && fine; i++)
            if (ELF64_ST_TYPE(read[i].st_info) == STT_FUNC)
                fine = code_ranges_add(functions, read[i].st_value,
                                       read[i].st_value + read[i].st_size, read[i].st_name);
    }
    free(read);
    code_ranges_sort(functions);
}
