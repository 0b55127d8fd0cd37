/* python_frames.c - walks the frames of a Python thread, and finds their lines and names. */
#define _GNU_SOURCE /* process_vm_readv */

#include "python_frames.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "../base.h"

enum {
    FRAMES_MOST = 256,
    TABLE_MOST = 1 << 20, /* bytes of a table of lines */
    OBJECT_TYPE = 8,      /* of an object: its type */
    BYTES_LENGTH = 16,
    BYTES_DATA = 32,
    TEXT_LENGTH = 16,
    TEXT_STATE = 32,
    OF_THE_INTERPRETER = 3, /* owners of frames from here on have no code of the program */
    TAG = 3                 /* bits of an address that 3.14 uses for itself */
};

/* ---- memory ---- */

static bool peek(const python_walk *walk, const void *at, void *to, size_t n)
{
    if (!at) return false;
    if (!walk->is_other) {
        memcpy(to, at, n);
        return true;
    }
    const struct iovec from = { (void *)(uintptr_t)at, n }, into = { to, n };
    return process_vm_readv(walk->python->pid, &into, 1, &from, 1, 0) == (ssize_t)n;
}

/* Of the thread's state and its frames, which change when it goes on. */
static bool peek_and_keep(const python_walk *walk, const void *at, void *to, size_t n)
{
    python_snapshot *s = walk->snapshot;
    if (!peek(walk, at, to, n)) return false;
    if (!s) return true;
    s->has_all = s->has_all && s->n < PYTHON_PIECES && s->used + n <= sizeof s->read;
    if (!s->has_all) return true;
    memcpy(s->read + s->used, to, n);
    s->from[s->n] = at;
    s->bytes[s->n++] = n;
    s->used += n;
    return true;
}

/* Frames lie behind each other: one piece from the first to the last is read sooner than each. */
static size_t range_of_frames(const python_snapshot *s, const uint8_t **from)
{
    const uint8_t *first = s->from[s->first_frame], *end = first;
    for (size_t i = s->first_frame; i < s->n; i++) {
        if (s->from[i] < first) first = s->from[i];
        if (s->from[i] + s->bytes[i] > end) end = s->from[i] + s->bytes[i];
    }
    *from = first;
    return (size_t)(end - first);
}

static bool is_same(const python_snapshot *s, const uint8_t *first)
{
    size_t at = 0;
    for (size_t i = 0; i < s->first_frame; i++)
        at += s->bytes[i];
    if (memcmp(s->now, s->read, at) != 0) return false;
    size_t kept = at;
    for (size_t i = s->first_frame; i < s->n; kept += s->bytes[i++])
        if (memcmp(s->now + at + (s->from[i] - first), s->read + kept, s->bytes[i]) != 0)
            return false;
    return true;
}

/* All pieces one by one, or, where `first` is given, the frames as a range from there on. */
static bool read_again(const python_process *python, python_snapshot *s, const uint8_t *first,
                       size_t range)
{
    struct iovec from[PYTHON_PIECES + 1];
    size_t n = 0, bytes = 0;
    for (; n < (first ? s->first_frame : s->n); n++) {
        from[n] = (struct iovec){ (void *)(uintptr_t)s->from[n], s->bytes[n] };
        bytes += s->bytes[n];
    }
    if (first) {
        from[n++] = (struct iovec){ (void *)(uintptr_t)first, range };
        bytes += range;
    }
    const struct iovec into = { s->now, bytes };
    return bytes <= sizeof s->now
           && process_vm_readv(python->pid, &into, 1, from, n, 0) == (ssize_t)bytes;
}

bool python_is_unchanged(const python_process *python, python_snapshot *s)
{
    const uint8_t *first;
    if (!s->has_all || s->first_frame >= s->n) return false;
    const size_t range = range_of_frames(s, &first);
    if (range <= PYTHON_RANGE_MOST) return read_again(python, s, first, range) && is_same(s, first);
    return read_again(python, s, NULL, 0) && memcmp(s->now, s->read, s->used) == 0;
}

static const uint8_t *pointer_at(const uint8_t *bytes)
{
    const uint8_t *pointer;
    memcpy(&pointer, bytes, sizeof pointer);
    return pointer;
}

static int32_t int_at(const uint8_t *bytes)
{
    int32_t number;
    memcpy(&number, bytes, sizeof number);
    return number;
}

/* ---- frames ---- */

static bool take_thread(python_walk *walk, const uint8_t *state)
{
    const python_layout *layout = &walk->python->layout;
    const size_t bytes = sizeof walk->frame;
    if (!state || !peek_and_keep(walk, state + layout->thread_frame, &walk->frame, bytes))
        return false;
    if (layout->frame_in_between < 0 || !walk->frame) return true;
    return peek_and_keep(walk, walk->frame + layout->frame_in_between, &walk->frame, bytes);
}

bool python_walk_begin(python_walk *walk, const python_process *python, const void *thread)
{
    *walk = (python_walk){ .python = python, .left = FRAMES_MOST };
    return take_thread(walk, thread);
}

bool python_walk_begin_other(python_walk *walk, const python_process *python, const void *thread,
                             uint64_t pthread, python_snapshot *snapshot)
{
    const uint8_t *state = thread;
    uint64_t id = 0;
    *walk = (python_walk){
        .python = python, .is_other = true, .snapshot = snapshot, .left = FRAMES_MOST
    };
    snapshot->n = snapshot->used = 0;
    snapshot->has_all = true;
    const bool is_there = peek_and_keep(walk, state + python->layout.thread_id, &id, sizeof id)
                          && id == pthread && take_thread(walk, state);
    snapshot->first_frame = snapshot->n;
    return is_there;
}

static bool take_code(python_walk *walk, const uint8_t *object)
{
    const python_layout *layout = &walk->python->layout;
    uint8_t code[PYTHON_CODE_MOST];
    if (!peek(walk, object, code, layout->code_bytes)
        || pointer_at(code + OBJECT_TYPE) != walk->python->code_type)
        return false;
    walk->code = (python_code){ .object = object,
                                .filename = pointer_at(code + layout->filename),
                                .name = pointer_at(code + layout->name),
                                .line_table = pointer_at(code + layout->line_table),
                                .first_line = int_at(code + layout->first_line) };
    return true;
}

static int64_t instruction_of(const python_layout *layout, const uint8_t *frame,
                              const uint8_t *code)
{
    if (layout->bytecode == 0) return 2 * (int64_t)int_at(frame + layout->instruction);
    return pointer_at(frame + layout->instruction) - (code + layout->bytecode);
}

bool python_walk_next(python_walk *walk)
{
    const python_layout *layout = &walk->python->layout;
    uint8_t frame[PYTHON_FRAME_MOST];
    while (walk->frame && walk->left-- > 0) {
        if (!peek_and_keep(walk, walk->frame, frame, layout->frame_bytes)) return false;
        walk->frame = pointer_at(frame + layout->previous);
        const uint8_t *object = pointer_at(frame + layout->code);
        object -= (uintptr_t)object & TAG;
        if (layout->owner && frame[layout->owner] >= OF_THE_INTERPRETER) continue;
        if (!take_code(walk, object)) continue;
        walk->instruction = instruction_of(layout, frame, object);
        return true;
    }
    return false;
}

/* ---- lines ---- */

/* 3.10: pairs of bytes, how many bytes of code, and how many lines further; -128: no line. */
static int32_t line_of_pairs(const uint8_t *table, size_t n, int64_t at, int32_t first)
{
    int64_t end = 0;
    int32_t line = first;
    for (size_t i = 0; i + 1 < n; i += 2) {
        const int8_t more = (int8_t)table[i + 1];
        end += table[i];
        if (more != -128) line += more;
        if (at < end) return more == -128 ? first : line;
    }
    return first;
}

static uint32_t take_varint(const uint8_t *table, size_t n, size_t *i)
{
    uint32_t number = 0;
    for (unsigned shift = 0; *i < n && shift < 32; shift += 6) {
        const uint8_t byte = table[(*i)++];
        number |= (uint32_t)(byte & 63) << shift;
        if (!(byte & 64)) break;
    }
    return number;
}

/* From 3.11 on: an entry begins with a byte that has its highest bit set, its form in four bits,
 * and how many instructions it is for, less one, in three. */
static int32_t line_of_entries(const uint8_t *table, size_t n, int64_t at, int32_t first)
{
    enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG, NO_LINE };
    int64_t end = 0, line = first;
    for (size_t i = 0; i < n;) {
        const unsigned form = table[i] >> 3 & 15;
        end += 2 * ((table[i++] & 7) + 1);
        if (form == NO_COLUMNS || form == LONG) {
            const uint32_t more = take_varint(table, n, &i);
            line += more & 1 ? -(int64_t)(more >> 1) : (int64_t)(more >> 1);
        } else if (form >= ONE_LINE && form < NO_COLUMNS)
            line += form - ONE_LINE;
        if (at < end) return form == NO_LINE ? first : (int32_t)line;
        while (i < n && !(table[i] & 128))
            i++;
    }
    return first;
}

/* The caller frees it. NULL: it cannot be read, or is out of memory. */
static uint8_t *read_table(const python_walk *walk, size_t *bytes)
{
    int64_t n;
    const uint8_t *object = walk->code.line_table;
    if (!object || !peek(walk, object + BYTES_LENGTH, &n, sizeof n) || n <= 0 || n > TABLE_MOST)
        return NULL;
    uint8_t *table = malloc((size_t)n);
    *bytes = (size_t)n;
    if (table && peek(walk, object + BYTES_DATA, table, *bytes)) return table;
    free(table);
    return NULL;
}

int32_t python_line(const python_walk *walk)
{
    size_t n;
    const int32_t first = walk->code.first_line;
    uint8_t *table = walk->instruction >= 0 ? read_table(walk, &n) : NULL;
    if (!table) return first;
    const int32_t line = (walk->python->layout.bytecode ? line_of_entries : line_of_pairs)(
        table, n, walk->instruction, first);
    free(table);
    return line;
}

uint64_t python_lines_sum(const python_walk *walk)
{
    size_t n = 0;
    uint8_t *table = read_table(walk, &n);
    const uint64_t sum = table ? sl__hash(SL__HASH_START, table, n) : 0;
    free(table);
    return sum;
}

/* ---- texts ---- */

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) return to[0] = (char)c, 1;
    const size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6)
        to[i] = (char)(0x80 | (c & 63));
    to[0] = (char)((0xf00 >> n & 0xff) | c);
    return n;
}

/* `kind` bytes a character; those that have no UTF-8 become question marks. */
static void put_characters(const uint8_t *from, size_t n, size_t kind, char *to, size_t bytes)
{
    size_t at = 0;
    for (size_t i = 0; i < n && at + 4 < bytes; i++) {
        uint32_t c = 0;
        memcpy(&c, from + i * kind, kind);
        const bool is_character = c >= ' ' && c < 0x110000 && (c < 0xd800 || c > 0xdfff);
        at += put_utf8(to + at, is_character ? c : '?');
    }
    to[at] = '\0';
}

void python_text(const python_walk *walk, const uint8_t *text, char *to, size_t bytes)
{
    enum { KIND = 7, COMPACT = 8, ASCII = 16, CHARACTERS = 1024 };
    const python_layout *layout = &walk->python->layout;
    uint8_t characters[4 * CHARACTERS];
    int64_t n = 0;
    uint32_t state = 0;
    to[0] = '\0';
    if (!text || !peek(walk, text + TEXT_LENGTH, &n, sizeof n)
        || !peek(walk, text + TEXT_STATE, &state, sizeof state))
        return;
    state >>= layout->text_bits;
    const size_t kind = state & KIND;
    if (!(state & COMPACT) || (kind != 1 && kind != 2 && kind != 4) || n <= 0) return;
    if (n > CHARACTERS) n = CHARACTERS;
    const uint8_t *data = text + (state & ASCII ? layout->ascii_bytes : layout->wide_bytes);
    if (peek(walk, data, characters, (size_t)n * kind))
        put_characters(characters, (size_t)n, kind, to, bytes);
}
