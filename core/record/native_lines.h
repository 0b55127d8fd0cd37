/* native_lines.h - the function and the line of an address, out of a program's file: its table of
 * symbols, and what a compiler writes with -g (DWARF 2 to 5). Reads, and maps nothing: who cuts a
 * mapped file would end the program.
 */
#ifndef NATIVE_LINES_H
#define NATIVE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NATIVE_TEXT_BYTES = 1024 };

typedef struct native_line {
    char symbol[NATIVE_TEXT_BYTES]; /* as the file has it; "": not known */
    char path[NATIVE_TEXT_BYTES];   /* of the source; "": not known */
    uint32_t number;
} native_line;

/* Of an address as the file at `path` numbers it. The first look-up in a file goes through all of
 * it, and keeps which addresses belong to what, at most 16 MiB, of the latest 8 files 24 MiB at
 * most; the next ones read what they need. Blocks while another thread looks something up. */
void native_line_find(const char *path, uint64_t address, native_line *line);

#endif
