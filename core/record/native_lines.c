/* native_lines.c - finds lines in DWARF's programs for line numbers, one for each unit: each writes
 * a table, a row for an address from which on a line counts, up to the next row's address. All of a
 * file's programs are run once, to know which addresses each has; from there on a look-up runs one.
 * All reading stays within a unit: a cursor that would leave it stops there, and it has no more
 * rows.
 */
#include "native_lines.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "code_ranges.h"
#include "symbol_file.h"

enum {
    TABLE_MOST = 1 << 16, /* folders or files of a unit */
    FORMATS_MOST = 16,    /* fields of their entries */
    OPCODES_MOST = 256,
    UNIT_MOST = 16 << 20, /* bytes of one that is read */
    FILES_MOST = 8,       /* that are known at a time */
    KNOWN_MOST = 24 << 20 /* bytes that these have, if they are several */
};

/* ---- numbers ---- */

typedef struct cursor {
    const uint8_t *at, *end;
    bool bad; /* it would have left its part: all that follows is 0 */
} cursor;

static uint64_t take(cursor *c, size_t n)
{
    uint64_t number = 0;
    if (c->bad || (size_t)(c->end - c->at) < n) {
        c->bad = true;
        return 0;
    }
    memcpy(&number, c->at, n);
    c->at += n;
    return number;
}

static uint64_t take_unsigned(cursor *c)
{
    uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t byte = (uint8_t)take(c, 1);
        if (shift < 64) number |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128)) return number;
    }
}

static int64_t take_signed(cursor *c)
{
    uint64_t number = 0;
    for (unsigned shift = 0;;) {
        const uint8_t byte = (uint8_t)take(c, 1);
        if (shift < 64) number |= (uint64_t)(byte & 127) << shift;
        shift += 7;
        if (byte & 128) continue;
        if (byte & 64 && shift < 64) number |= UINT64_MAX << shift;
        return (int64_t)number;
    }
}

static const char *take_text(cursor *c)
{
    const char *text = (const char *)c->at;
    const uint8_t *end = c->bad ? NULL : memchr(c->at, 0, (size_t)(c->end - c->at));
    c->bad = !end;
    if (end) c->at = end + 1;
    return end ? text : "";
}

static void skip(cursor *c, uint64_t n)
{
    if (c->bad || n > (size_t)(c->end - c->at))
        c->bad = true;
    else
        c->at += n;
}

/* ---- a unit's head ---- */

typedef struct unit {
    const symbol_file *file;
    cursor files, folders; /* from their first entries on */
    cursor program;
    unsigned version, offset_bytes;
    uint8_t step, opcode_base, operands[OPCODES_MOST];
    int8_t line_base;
    uint8_t line_range;
    uint64_t n_files, n_folders;
    struct {
        uint64_t what, form;
    } file_format[FORMATS_MOST], folder_format[FORMATS_MOST];
    size_t n_file_format, n_folder_format;
} unit;

enum { CONTENT_PATH = 1, CONTENT_FOLDER };

/* In the unit, or else in another part of the file. */
typedef struct text {
    const char *here; /* NULL: in the other part */
    symbol_part part;
    uint64_t at;
} text;

static text text_here(const char *here) { return (text){ .here = here }; }

static void read_text(const unit *u, text t, char *to, size_t bytes)
{
    if (t.here)
        snprintf(to, bytes, "%s", t.here);
    else
        symbol_part_text(u->file, t.part, t.at, to, bytes);
}

/* A field of an entry of DWARF 5: a text, or a number. */
static text take_form(cursor *c, const unit *u, uint64_t form, uint64_t *number)
{
    enum {
        BLOCK2 = 3,
        BLOCK4,
        DATA2,
        DATA4,
        DATA8,
        STRING,
        BLOCK,
        BLOCK1,
        DATA1,
        STRP = 14,
        UDATA,
        DATA16 = 30,
        LINE_STRP
    };
    const symbol_file *file = u->file;
    const text none = text_here("");
    *number = 0;
    switch (form) {
    case STRING: return text_here(take_text(c));
    case STRP: return (text){ .part = file->texts, .at = take(c, u->offset_bytes) };
    case LINE_STRP: return (text){ .part = file->line_texts, .at = take(c, u->offset_bytes) };
    case DATA1: *number = take(c, 1); return none;
    case DATA2: *number = take(c, 2); return none;
    case DATA4: *number = take(c, 4); return none;
    case DATA8: *number = take(c, 8); return none;
    case UDATA: *number = take_unsigned(c); return none;
    case DATA16: skip(c, 16); return none;
    case BLOCK: skip(c, take_unsigned(c)); return none;
    case BLOCK1: skip(c, take(c, 1)); return none;
    case BLOCK2: skip(c, take(c, 2)); return none;
    case BLOCK4: skip(c, take(c, 4)); return none;
    }
    c->bad = true;
    return none;
}

typedef struct entry {
    text path;
    uint64_t folder;
} entry;

static const entry no_entry = { .path = { .here = "" } };

static entry take_entry(cursor *c, const unit *u, bool is_file)
{
    entry e = no_entry;
    const size_t n = is_file ? u->n_file_format : u->n_folder_format;
    for (size_t i = 0; i < n; i++) {
        uint64_t number;
        const uint64_t what = is_file ? u->file_format[i].what : u->folder_format[i].what;
        const text found = take_form(
            c, u, is_file ? u->file_format[i].form : u->folder_format[i].form, &number);
        if (what == CONTENT_PATH) e.path = found;
        if (what == CONTENT_FOLDER) e.folder = number;
    }
    return e;
}

static void take_format(cursor *c, unit *u, bool is_file)
{
    size_t n = (size_t)take(c, 1);
    if (n > FORMATS_MOST) c->bad = true;
    for (size_t i = 0; i < n && !c->bad; i++) {
        const uint64_t what = take_unsigned(c), form = take_unsigned(c);
        if (is_file)
            u->file_format[i].what = what, u->file_format[i].form = form;
        else
            u->folder_format[i].what = what, u->folder_format[i].form = form;
    }
    *(is_file ? &u->n_file_format : &u->n_folder_format) = c->bad ? 0 : n;
}

/* Behind the tables of folders and of files is the program. */
static void take_tables(cursor *c, unit *u)
{
    take_format(c, u, false);
    u->n_folders = take_unsigned(c);
    u->folders = *c;
    if (u->n_folders > TABLE_MOST) c->bad = true;
    for (uint64_t i = 0; i < u->n_folders && !c->bad; i++)
        take_entry(c, u, false);
    take_format(c, u, true);
    u->n_files = take_unsigned(c);
    u->files = *c;
}

/* False: there is no unit of a version that is known. */
static bool take_head(const symbol_file *file, cursor *c, unit *u)
{
    *u = (unit){ .file = file, .offset_bytes = 4 };
    uint64_t bytes = take(c, 4);
    if (bytes == 0xffffffff) {
        bytes = take(c, 8);
        u->offset_bytes = 8;
    }
    if (c->bad || bytes > (size_t)(c->end - c->at)) return false;
    cursor in = { c->at, c->at + bytes, false };
    u->version = (unsigned)take(&in, 2);
    if (u->version < 2 || u->version > 5) return false;
    if (u->version == 5) take(&in, 2);
    const uint64_t head_bytes = take(&in, u->offset_bytes);
    u->program = in;
    skip(&u->program, head_bytes);
    u->step = (uint8_t)take(&in, 1);
    if (u->version >= 4) take(&in, 1);
    take(&in, 1);
    u->line_base = (int8_t)take(&in, 1);
    u->line_range = (uint8_t)take(&in, 1);
    u->opcode_base = (uint8_t)take(&in, 1);
    for (unsigned i = 1; i < u->opcode_base; i++)
        u->operands[i] = (uint8_t)take(&in, 1);
    if (u->version == 5)
        take_tables(&in, u);
    else
        u->folders = in;
    u->program.bad = u->program.bad || in.bad || u->line_range == 0 || u->opcode_base == 0;
    return true;
}

/* ---- a unit's rows ---- */

typedef struct row {
    uint64_t address, file;
    uint32_t line;
} row;

/* For the row of an address, or for the addresses of all sequences of rows. One that begins at 0
 * is of a function that the linker has left out. */
typedef struct search {
    uint64_t address;
    code_ranges *sequences; /* NULL: of an address */
    uint64_t at;            /* of the unit */
    uint64_t from;          /* of the sequence */
    row before, found;      /* found.line 0: none */
    bool in_sequence;       /* `before` is a row */
    bool is_full;           /* there are too many sequences */
} search;

static void put_row(search *s, row now, bool ends)
{
    if (!s->in_sequence) s->from = now.address;
    if (s->sequences && ends && s->from != 0)
        s->is_full = !code_ranges_add(s->sequences, s->from, now.address, s->at);
    if (!s->sequences && s->in_sequence && s->from != 0 && s->address >= s->before.address
        && s->address < now.address)
        s->found = s->before;
    s->before = now;
    s->in_sequence = !ends;
}

static void do_extended(cursor *c, search *s, row *now)
{
    enum { END_SEQUENCE = 1, SET_ADDRESS };
    const uint64_t bytes = take_unsigned(c);
    cursor in = *c;
    skip(c, bytes);
    if (c->bad || bytes == 0) return;
    in.end = c->at;
    const uint64_t what = take(&in, 1);
    if (what == SET_ADDRESS && bytes == 9) now->address = take(&in, 8);
    if (what != END_SEQUENCE) return;
    put_row(s, *now, true);
    *now = (row){ .file = 1, .line = 1 };
}

static void do_standard(cursor *c, const unit *u, uint8_t code, search *s, row *now)
{
    enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC };
    switch (code) {
    case COPY: put_row(s, *now, false); return;
    case ADVANCE_PC: now->address += u->step * take_unsigned(c); return;
    case ADVANCE_LINE: now->line += (uint32_t)take_signed(c); return;
    case SET_FILE: now->file = take_unsigned(c); return;
    case CONST_ADD_PC:
        now->address += u->step * (uint64_t)((255 - u->opcode_base) / u->line_range);
        return;
    case FIXED_ADVANCE_PC: now->address += take(c, 2); return;
    }
    for (unsigned i = 0; i < u->operands[code] && !c->bad; i++)
        take_unsigned(c);
}

static void run(const unit *u, search *s)
{
    cursor c = u->program;
    row now = { .file = 1, .line = 1 };
    s->in_sequence = false;
    while (!c.bad && c.at < c.end && s->found.line == 0 && !s->is_full) {
        const uint8_t code = (uint8_t)take(&c, 1);
        if (code >= u->opcode_base) {
            const unsigned more = (unsigned)(code - u->opcode_base);
            now.address += u->step * (uint64_t)(more / u->line_range);
            now.line += (uint32_t)(u->line_base + (int)(more % u->line_range));
            put_row(s, now, false);
        } else if (code == 0)
            do_extended(&c, s, &now);
        else
            do_standard(&c, u, code, s, &now);
    }
}

/* ---- files of a unit ---- */

/* Up to version 4 tables end in an empty name, and count from 1; the folder 0 is not in them. */
static const char *old_folder(const unit *u, uint64_t index, cursor *behind)
{
    cursor c = u->folders;
    const char *found = "";
    for (uint64_t i = 1;; i++) {
        const char *path = take_text(&c);
        if (c.bad || !path[0]) break;
        if (i == index) found = path;
    }
    *behind = c;
    return found;
}

static entry old_file(const unit *u, uint64_t index)
{
    cursor c;
    old_folder(u, 0, &c);
    for (uint64_t i = 1;; i++) {
        const char *path = take_text(&c);
        if (c.bad || !path[0]) return no_entry;
        const entry e = { text_here(path), take_unsigned(&c) };
        take_unsigned(&c);
        take_unsigned(&c);
        if (i == index) return e;
    }
}

static entry entry_at(const unit *u, bool is_file, uint64_t index)
{
    cursor c = is_file ? u->files : u->folders;
    entry e = no_entry;
    if (index >= (is_file ? u->n_files : u->n_folders) || index > TABLE_MOST) return e;
    for (uint64_t i = 0; i <= index && !c.bad; i++)
        e = take_entry(&c, u, is_file);
    return c.bad ? no_entry : e;
}

static bool is_whole(const char *path) { return path[0] == '/'; }

/* Behind what is there, which is a folder or "". */
static void append(const unit *u, text t, char path[NATIVE_TEXT_BYTES])
{
    size_t n = strlen(path);
    if (n > 0 && n + 1 < NATIVE_TEXT_BYTES) path[n++] = '/';
    read_text(u, t, path + n, NATIVE_TEXT_BYTES - n);
    if (n > 0 && !path[n]) path[n - 1] = '\0';
}

static void take_path(const unit *u, uint64_t index, char path[NATIVE_TEXT_BYTES])
{
    cursor behind;
    const bool is_new = u->version == 5;
    const entry file = is_new ? entry_at(u, true, index) : old_file(u, index);
    const text folder = is_new ? entry_at(u, false, file.folder).path
                               : text_here(old_folder(u, file.folder, &behind));
    path[0] = '\0';
    append(u, file.path, path);
    if (is_whole(path)) return;
    read_text(u, folder, path, NATIVE_TEXT_BYTES);
    if (is_new && !is_whole(path)) {
        read_text(u, entry_at(u, false, 0).path, path, NATIVE_TEXT_BYTES);
        append(u, folder, path);
    }
    append(u, file.path, path);
}

/* ---- units of a file ---- */

typedef struct buffer {
    uint8_t *data;
    size_t n, cap;
} buffer;

/* The bytes of the unit there, which is in the buffer unless it is too large or memory is out;
 * 0: there is no other one. */
static uint64_t read_unit(const symbol_file *file, uint64_t at, buffer *to)
{
    uint32_t first;
    uint64_t bytes, head_bytes = sizeof first;
    to->n = 0;
    if (!symbol_part_read(file, file->lines, at, &first, sizeof first)) return 0;
    bytes = first;
    if (first == UINT32_MAX) {
        if (!symbol_part_read(file, file->lines, at + head_bytes, &bytes, sizeof bytes)) return 0;
        head_bytes += sizeof bytes;
    }
    if (bytes > file->lines.bytes - at - head_bytes) return 0;
    bytes += head_bytes;
    if (bytes > UNIT_MOST || !SL__GROW(to->data, to->cap, (size_t)bytes)) return bytes;
    if (symbol_part_read(file, file->lines, at, to->data, (size_t)bytes)) to->n = (size_t)bytes;
    return bytes;
}

static void list_sequences(const symbol_file *file, code_ranges *sequences)
{
    buffer in = { 0 };
    unit u;
    search s = { .sequences = sequences };
    for (uint64_t bytes; !s.is_full && (bytes = read_unit(file, s.at, &in)) > 0; s.at += bytes) {
        cursor c = { in.data, in.data + in.n, in.n == 0 };
        if (take_head(file, &c, &u)) run(&u, &s);
    }
    free(in.data);
    code_ranges_sort(sequences);
}

static void find_line(const symbol_file *file, uint64_t unit_at, uint64_t address,
                      native_line *line)
{
    buffer in = { 0 };
    unit u;
    search s = { .address = address };
    read_unit(file, unit_at, &in);
    cursor c = { in.data, in.data + in.n, in.n == 0 };
    if (take_head(file, &c, &u)) run(&u, &s);
    line->number = s.found.line;
    if (s.found.line) take_path(&u, s.found.file, line->path);
    free(in.data);
}

/* ---- files ---- */

typedef struct known_file {
    char path[NATIVE_TEXT_BYTES]; /* "": none */
    symbol_file file;
    code_ranges functions, sequences;
    uint64_t used; /* the largest is the latest */
} known_file;

static struct {
    pthread_mutex_t lock; /* guards what follows */
    known_file files[FILES_MOST];
    uint64_t uses;
} known = { .lock = PTHREAD_MUTEX_INITIALIZER };

static size_t bytes_of(const known_file *k)
{
    return (k->functions.cap + k->sequences.cap) * sizeof *k->functions.all;
}

static void forget(known_file *k)
{
    code_ranges_free(&k->functions);
    code_ranges_free(&k->sequences);
    k->path[0] = '\0';
    k->used = 0;
}

/* The one of that path, else the one that has not been used for longest. */
static known_file *find_known(const char *path)
{
    known_file *oldest = known.files;
    for (known_file *k = known.files; k < known.files + FILES_MOST; k++) {
        if (strcmp(k->path, path) == 0) return k;
        if (k->used < oldest->used) oldest = k;
    }
    return oldest;
}

static void bound_known(const known_file *latest)
{
    for (;;) {
        size_t bytes = 0;
        known_file *oldest = NULL;
        for (known_file *k = known.files; k < known.files + FILES_MOST; k++) {
            bytes += bytes_of(k);
            if (k != latest && bytes_of(k) > 0 && (!oldest || k->used < oldest->used)) oldest = k;
        }
        if (bytes <= KNOWN_MOST || !oldest) return;
        forget(oldest);
    }
}

/* A file that has changed since is looked through again. NULL: it cannot be read. */
static known_file *open_known(const char *path)
{
    symbol_file now;
    known_file *k = find_known(path);
    if (!symbol_file_open(&now, path)) return NULL;
    if (strcmp(k->path, path) == 0 && symbol_file_is_same(&k->file, &now))
        k->file.fd = now.fd;
    else {
        forget(k);
        symbol_file_find_parts(&now);
        k->file = now;
        snprintf(k->path, sizeof k->path, "%s", path);
        symbol_file_list(&now, &k->functions);
        list_sequences(&now, &k->sequences);
        bound_known(k);
    }
    k->used = ++known.uses;
    return k;
}

void native_line_find(const char *path, uint64_t address, native_line *line)
{
    line->symbol[0] = line->path[0] = '\0';
    line->number = 0;
    pthread_mutex_lock(&known.lock);
    known_file *k = open_known(path);
    if (k) {
        const code_range *function = code_ranges_find(&k->functions, address);
        const code_range *sequence = code_ranges_find(&k->sequences, address);
        if (function)
            symbol_part_text(&k->file, k->file.names, function->at, line->symbol,
                             sizeof line->symbol);
        if (sequence) find_line(&k->file, sequence->at, address, line);
        symbol_file_close(&k->file);
    }
    pthread_mutex_unlock(&known.lock);
}
