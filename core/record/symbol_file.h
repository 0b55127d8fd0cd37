/* symbol_file.h - the parts of a program's file (ELF, 64 bits) that say what its addresses are. It
 * is read, and not mapped: who cuts a mapped file would end the program.
 */
#ifndef SYMBOL_FILE_H
#define SYMBOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "code_ranges.h"

typedef struct symbol_part {
    uint64_t at, bytes; /* in the file; 0 bytes: there is none */
} symbol_part;

typedef struct symbol_file {
    int fd;                     /* -1: none */
    struct stat info;           /* when it was opened */
    symbol_part symbols, names; /* of the file's table of symbols, else of the dynamic one */
    symbol_part lines, line_texts, texts; /* .debug_line, .debug_line_str, .debug_str */
} symbol_file;

/* False: it cannot be read. One that is no such file has no parts, and neither have those that are
 * compressed, or have more than 64 MiB to look through. */
bool symbol_file_open(symbol_file *file, const char *path);
void symbol_file_close(symbol_file *file);

/* Whether two of a path are the same file, unchanged. */
bool symbol_file_is_same(const symbol_file *one, const symbol_file *other);

/* Finds the parts of one that is open. */
void symbol_file_find_parts(symbol_file *file);

/* n bytes from `at` of a part on. False: it has not as many, and so has a file that was cut. */
bool symbol_part_read(const symbol_file *file, symbol_part part, uint64_t at, void *to, size_t n);

/* The text there, cut to what there is room for; "" if there is none. */
void symbol_part_text(const symbol_file *file, symbol_part part, uint64_t at, char *to,
                      size_t bytes);

/* The functions, by their names' places in `names`, sorted. Reads all symbols. */
void symbol_file_list(const symbol_file *file, code_ranges *functions);

#endif
