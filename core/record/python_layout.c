/* python_layout.c - finds CPython in this process, and the layout of its frames: up to 3.12 a row
 * for each release, whose structs do not change between its updates; from 3.13 on the interpreter
 * publishes it (_Py_DebugOffsets, at the beginning of _PyRuntime). Either is believed only if what
 * it says of code objects agrees with their type's own size.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */

#include "python_layout.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BASIC_SIZE = 32, /* of a type: the size of its objects */
    TEXT_ASCII_BYTES = 40,
    TEXT_WIDE_BYTES = 56
};

static const python_layout layouts[] = {
    { .minor = 10,
      .thread_frame = 24,
      .frame_in_between = -1,
      .thread_id = 176,
      .previous = 24,
      .code = 32,
      .instruction = 96, /* a number of instructions of 2 bytes */
      .frame_bytes = 104,
      .filename = 104,
      .name = 112,
      .line_table = 120,
      .first_line = 40,
      .code_bytes = 128,
      .text_bits = 2,
      .ascii_bytes = 48,
      .wide_bytes = 72 },
    { .minor = 11,
      .thread_frame = 56,
      .frame_in_between = 8,
      .thread_id = 152,
      .previous = 48,
      .code = 32,
      .instruction = 56,
      .owner = 69,
      .frame_bytes = 72,
      .filename = 112,
      .name = 128,
      .line_table = 136,
      .first_line = 72,
      .bytecode = 184,
      .code_bytes = 144,
      .text_bits = 2,
      .ascii_bytes = 48,
      .wide_bytes = 72 },
    { .minor = 12,
      .thread_frame = 56,
      .frame_in_between = 0,
      .thread_id = 136,
      .previous = 8,
      .code = 0,
      .instruction = 56,
      .owner = 70,
      .frame_bytes = 72,
      .filename = 112,
      .name = 128,
      .line_table = 136,
      .first_line = 68,
      .bytecode = 192,
      .code_bytes = 144,
      .text_bits = 2,
      .ascii_bytes = TEXT_ASCII_BYTES,
      .wide_bytes = TEXT_WIDE_BYTES },
};

/* Where the published offsets are, counted in numbers of 64 bits; each release adds some. */
typedef struct published {
    uint16_t minor, text_bits;
    uint16_t current_frame, thread_id;
    uint16_t previous, executable, instruction, owner;
    uint16_t filename, qualified_name, line_table, first_line, bytecode;
} published;

enum { PUBLISHED_VERSION = 1, PUBLISHED_FREE_THREADED };

static const published releases[] = {
    { 13, 2, 23, 24, 29, 30, 31, 33, 35, 37, 38, 39, 43 },
    { 14, 16, 26, 27, 32, 33, 34, 36, 40, 42, 43, 44, 48 },
};

/* ---- symbols ---- */

static void *symbol_of(const char *name) { return dlsym(RTLD_DEFAULT, name); }

/* ISO C has no cast from an object pointer to a function pointer. */
static bool take(const char *name, void *function)
{
    void *symbol = symbol_of(name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* ---- layouts ---- */

static bool refuse(char *why, size_t why_bytes, const char *version)
{
    snprintf(why, why_bytes,
             "they are read of CPython 3.10 to 3.14, built with its lock, and this is Python %.*s",
             (int)strcspn(version, " "), version);
    return false;
}

static bool take_row(python_layout *layout, int minor)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].minor == minor) {
            *layout = layouts[i];
            return true;
        }
    return false;
}

/* The largest of some offsets, and room for what is there. */
static uint16_t end_of(const uint64_t *offsets, const uint16_t *at, size_t n)
{
    uint64_t end = 0;
    for (size_t i = 0; i < n; i++)
        if (offsets[at[i]] > end) end = offsets[at[i]];
    return (uint16_t)(end < 1024 ? end + 8 : 1024);
}

static bool take_published(python_layout *layout, int minor)
{
    const uint64_t *offsets = symbol_of("_PyRuntime");
    const published *p = NULL;
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
        if (releases[i].minor == minor) p = &releases[i];
    if (!p || !offsets || memcmp(offsets, "xdebugpy", 8) != 0
        || offsets[PUBLISHED_VERSION] >> 16 != (0x300u | (unsigned)minor)
        || offsets[PUBLISHED_FREE_THREADED])
        return false;
    *layout = (python_layout){ .minor = p->minor,
                               .thread_frame = (uint16_t)offsets[p->current_frame],
                               .frame_in_between = -1,
                               .thread_id = (uint16_t)offsets[p->thread_id],
                               .previous = (uint16_t)offsets[p->previous],
                               .code = (uint16_t)offsets[p->executable],
                               .instruction = (uint16_t)offsets[p->instruction],
                               .owner = (uint16_t)offsets[p->owner],
                               .frame_bytes = end_of(offsets, &p->previous, 4),
                               .filename = (uint16_t)offsets[p->filename],
                               .name = (uint16_t)offsets[p->qualified_name],
                               .line_table = (uint16_t)offsets[p->line_table],
                               .first_line = (uint16_t)offsets[p->first_line],
                               .bytecode = (uint16_t)offsets[p->bytecode],
                               .code_bytes = end_of(offsets, &p->filename, 4),
                               .text_bits = p->text_bits,
                               .ascii_bytes = TEXT_ASCII_BYTES,
                               .wide_bytes = TEXT_WIDE_BYTES };
    return true;
}

/* A code object's bytecode, and what is wide of a text, end what their types say. */
static bool agrees(const python_layout *layout, const uint8_t *code_type, const uint8_t *text_type)
{
    uint64_t code_bytes, text_bytes;
    memcpy(&code_bytes, code_type + BASIC_SIZE, sizeof code_bytes);
    memcpy(&text_bytes, text_type + BASIC_SIZE, sizeof text_bytes);
    return layout->frame_bytes <= PYTHON_FRAME_MOST && layout->code_bytes <= PYTHON_CODE_MOST
           && text_bytes == layout->wide_bytes + 8u
           && (layout->bytecode ? code_bytes == layout->bytecode
                                : code_bytes >= layout->code_bytes && code_bytes < 256);
}

bool python_find(python_process *python, char *why, size_t why_bytes)
{
    const char *(*version_of)(void) = NULL;
    const uint8_t *code_type = symbol_of("PyCode_Type"), *text_type = symbol_of("PyUnicode_Type");
    if (!code_type || !text_type || !take("Py_GetVersion", &version_of)
        || !take("PyGILState_GetThisThreadState", &python->this_thread)) {
        snprintf(why, why_bytes, "there was no CPython in it when it first used CUDA");
        return false;
    }
    const char *version = version_of();
    const int minor = strncmp(version, "3.", 2) == 0 ? atoi(version + 2) : 0;
    python->code_type = code_type;
    python->pid = (int)getpid();
    if (!take_row(&python->layout, minor) && !take_published(&python->layout, minor))
        return refuse(why, why_bytes, version);
    return agrees(&python->layout, code_type, text_type) || refuse(why, why_bytes, version);
}
