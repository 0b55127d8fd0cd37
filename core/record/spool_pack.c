/* spool_pack.c - which field of a record is packed how; and packing, and unpacking. */
#include "spool_pack.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"

/* ---- rows ---- */

typedef enum how {
    NONE,   /* behind the last field */
    SHARED, /* most records have the same as others: names, streams, sizes */
    STEP,   /* little differs from the last record's: times, numbers that count up */
    LENGTH, /* the end of what the field before begins */
    TEXT    /* the last field */
} how;

typedef struct field {
    uint8_t how, offset, bytes;
} field;

/* Shared fields come first, then the record's own, then a text. */
typedef struct row {
    field fields[2 * SPOOL_FIELDS_MOST];
} row;

/* clang-format off */
#define FIELD(how, name) \
    { how, offsetof(spool_record, name), sizeof((const spool_record *)NULL)->name }
#define IN(name) FIELD(SHARED, name)
#define BY(name) FIELD(STEP, name)
#define TO(name) FIELD(LENGTH, name)

static const row rows[SPOOL_KINDS] = {
    [SPOOL_START] = { { IN(start.version), IN(start.cupti_version), IN(start.driver_version),
                        IN(start.pid), IN(start.parent), BY(start.cupti_ns), BY(start.system_ns),
                        FIELD(TEXT, start.program) } },
    [SPOOL_FAILURE] = { { BY(name.id), FIELD(TEXT, name.text) } },
    [SPOOL_NAME] = { { BY(name.id), FIELD(TEXT, name.text) } },
    [SPOOL_CALL] = { { IN(call.name), IN(call.thread), IN(call.result), BY(call.correlation),
                       BY(call.start_ns), TO(call.end_ns) } },
    [SPOOL_KERNEL] = { { IN(kernel.name), IN(kernel.registers), IN(kernel.threads),
                         IN(kernel.blocks), IN(kernel.shared_bytes), IN(kernel.device),
                         IN(kernel.context), IN(kernel.stream), IN(kernel.graph), BY(kernel.node),
                         BY(kernel.correlation), BY(kernel.start_ns), TO(kernel.end_ns) } },
#define COPY { { IN(copy.direction), IN(copy.from), IN(copy.to), IN(copy.device),                 \
                 IN(copy.context), IN(copy.stream), IN(copy.from_device), IN(copy.to_device),     \
                 IN(copy.size), IN(copy.graph), BY(copy.node), BY(copy.correlation),              \
                 BY(copy.start_ns), TO(copy.end_ns) } }
    [SPOOL_COPY] = COPY,
    [SPOOL_SET] = COPY,
    [SPOOL_SYNC] = { { IN(sync.type), IN(sync.context), IN(sync.stream), BY(sync.event),
                       BY(sync.correlation), BY(sync.record), BY(sync.start_ns),
                       TO(sync.end_ns) } },
    [SPOOL_EVENT] = { { IN(event.context), IN(event.stream), BY(event.event),
                        BY(event.correlation), BY(event.record) } },
    [SPOOL_STREAM] = { { IN(stream.context), IN(stream.flag), IN(stream.priority),
                         BY(stream.stream) } },
    [SPOOL_CONTEXT] = { { IN(context.device), BY(context.context), BY(context.null_stream) } },
    [SPOOL_DEVICE] = { { IN(device.memory_bytes), IN(device.sms), IN(device.major),
                         IN(device.minor), IN(device.threads_per_block), IN(device.shared_per_sm),
                         IN(device.copy_engines), BY(device.index), FIELD(TEXT, device.name) } },
    [SPOOL_OVERHEAD] = { { IN(overhead.type), IN(overhead.thread), BY(overhead.correlation),
                           BY(overhead.start_ns), TO(overhead.end_ns) } },
    [SPOOL_RANGE] = { { IN(range.name), IN(range.thread), BY(range.start_ns), TO(range.end_ns) } },
    [SPOOL_END] = { { IN(end.is_pytorch), BY(end.dropped), BY(end.cupti_ns), BY(end.system_ns),
                      BY(end.dropped_ranges), BY(end.dropped_lines) } },
    [SPOOL_LINE] = { { IN(line.file), IN(line.function), IN(line.is_other), BY(line.id),
                       BY(line.number), FIELD(TEXT, line.text) } },
    [SPOOL_NO_LINES] = { { BY(name.id), FIELD(TEXT, name.text) } },
    [SPOOL_AT] = { { IN(at.line), IN(at.thread), BY(at.correlation) } },
    [SPOOL_THREAD] = { { BY(thread.thread), FIELD(TEXT, thread.name) } },
    [SPOOL_MEMORY] = { { IN(memory.operation), IN(memory.memory), IN(memory.is_ordered),
                         IN(memory.device), IN(memory.stream), IN(memory.size),
                         BY(memory.correlation), BY(memory.address), BY(memory.time_ns),
                         BY(memory.pool_bytes) } },
};
/* clang-format on */

/* How many fields are shared, and how many the record's own; whether there is a text. */
typedef struct counts {
    size_t shared, own;
    bool text;
} counts;

static counts count(const field *f)
{
    counts n = { 0 };
    for (; f->how == SHARED; f++)
        n.shared++;
    for (; f->how == STEP || f->how == LENGTH; f++)
        n.own++;
    n.text = f->how == TEXT;
    return n;
}

/* A number below 0 is taken for the large one of the same bits. */
static uint64_t get(const spool_record *record, field f)
{
    const uint8_t *at = (const uint8_t *)record + f.offset;
    uint64_t n64;
    uint32_t n32;
    uint16_t n16;
    switch (f.bytes) {
    case 8: memcpy(&n64, at, sizeof n64); return n64;
    case 4: memcpy(&n32, at, sizeof n32); return n32;
    case 2: memcpy(&n16, at, sizeof n16); return n16;
    }
    return *at;
}

static void set(spool_record *record, field f, uint64_t value)
{
    uint8_t *at = (uint8_t *)record + f.offset;
    const uint32_t n32 = (uint32_t)value;
    const uint16_t n16 = (uint16_t)value;
    switch (f.bytes) {
    case 8: memcpy(at, &value, sizeof value); return;
    case 4: memcpy(at, &n32, sizeof n32); return;
    case 2: memcpy(at, &n16, sizeof n16); return;
    }
    *at = (uint8_t)value;
}

/* ---- written ---- */

static uint8_t *put(uint8_t *to, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

static uint64_t fold(uint64_t step) { return step << 1 ^ (step >> 63 ? UINT64_MAX : 0); }

static uint8_t *put_text(uint8_t *to, const spool_record *record, field f)
{
    const char *text;
    memcpy(&text, (const uint8_t *)record + f.offset, sizeof text);
    size_t n = text ? strlen(text) : 0;
    if (n >= SPOOL_TEXT_MOST) n = SPOOL_TEXT_MOST - 1;
    to = put(to, n);
    if (n > 0) memcpy(to, text, n);
    return to + n;
}

void spool_pack_begin(spool_packer *packer)
{
    for (size_t kind = 0; kind < SPOOL_KINDS; kind++) {
        if (!packer->kinds[kind].begun) continue;
        packer->kinds[kind].begun = false;
        memset(packer->kinds[kind].last, 0, sizeof packer->kinds[kind].last);
        sl__keys_clear(&packer->kinds[kind].shared);
    }
}

/* The number of a combination of shared fields, from 1; 0: it is a new one. False: no memory. */
static bool number_shared(spool_packed_kind *kind, const uint64_t *shared, size_t n, size_t *number)
{
    size_t n_known = kind->shared.n;
    kind->shared.more = n - 1;
    if (n_known == SPOOL_SHARED_MOST && !sl__keys_find(&kind->shared, shared, number)) {
        sl__keys_clear(&kind->shared);
        n_known = 0;
    }
    if (!sl__keys_number(&kind->shared, shared, number)) return false;
    *number = *number == n_known ? 0 : *number + 1;
    return true;
}

uint8_t *spool_pack(spool_packer *packer, const spool_record *record, uint8_t *to)
{
    spool_packed_kind *kind = &packer->kinds[record->kind];
    const field *f = rows[record->kind].fields;
    const counts n = count(f);
    uint64_t shared[SPOOL_FIELDS_MOST], value = 0;
    size_t number = 0;
    for (size_t i = 0; i < n.shared; i++)
        shared[i] = get(record, *f++);
    if (n.shared > 0 && !number_shared(kind, shared, n.shared, &number)) return NULL;
    to = put(to, record->kind);
    if (!kind->begun) to = put(put(to, 2 * n.shared + n.text), n.own);
    kind->begun = true;
    if (n.shared > 0) to = put(to, number);
    for (size_t i = 0; number == 0 && i < n.shared; i++)
        to = put(to, shared[i]);
    for (size_t i = 0; i < n.own; i++, f++) {
        const uint64_t before = f->how == LENGTH ? value : kind->last[i];
        value = get(record, *f);
        to = put(to, f->how == LENGTH ? value - before : fold(value - before));
        kind->last[i] = value;
    }
    return n.text ? put_text(to, record, *f) : to;
}

/* ---- read ---- */

/* False: the bytes end before the number does, or it has more than 64 bits. */
static bool take(spool_unpacker *u, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; u->at < u->end && shift < 64; shift += 7) {
        const uint8_t byte = *u->at++;
        if (shift == 63 && byte > 1) return false;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

static uint64_t unfold(uint64_t step) { return step >> 1 ^ (step & 1 ? UINT64_MAX : 0); }

void spool_unpack_begin(spool_unpacker *u, const uint8_t *bytes, size_t n)
{
    u->at = bytes;
    u->end = bytes + n;
    for (size_t i = 0; i < SPOOL_KINDS_MOST; i++) {
        u->kinds[i].begun = false;
        u->kinds[i].n = 0;
        memset(u->kinds[i].last, 0, sizeof u->kinds[i].last);
    }
}

/* How many fields of it there are, as whoever wrote it knew the kind. */
static bool take_counts(spool_unpacker *u, spool_unpacked_kind *kind)
{
    uint64_t n_shared, n_own;
    if (kind->begun) return true;
    if (!take(u, &n_shared) || !take(u, &n_own)) return false;
    kind->begun = true;
    kind->has_text = n_shared & 1;
    kind->n_shared = (size_t)sl__min(n_shared / 2, (uint64_t)SPOOL_FIELDS_MOST + 1);
    kind->n_own = (size_t)sl__min(n_own, (uint64_t)SPOOL_FIELDS_MOST + 1);
    return kind->n_shared <= SPOOL_FIELDS_MOST && kind->n_own <= SPOOL_FIELDS_MOST;
}

/* A combination that has not been there: the first `known` fields are kept. */
static spool_unpacked take_new(spool_unpacker *u, spool_unpacked_kind *kind, size_t known,
                               size_t *number)
{
    uint64_t values[SPOOL_FIELDS_MOST] = { 0 };
    for (size_t i = 0; i < kind->n_shared; i++)
        if (!take(u, &values[i])) return SPOOL_DAMAGED;
    if (kind->n == SPOOL_SHARED_MOST) kind->n = 0;
    *number = kind->n++;
    if (known == 0) return SPOOL_UNPACKED;
    if (!SL__GROW(kind->shared, kind->cap, kind->n * known)) return SPOOL_NO_MEMORY;
    memcpy(kind->shared + *number * known, values, known * sizeof *values);
    return SPOOL_UNPACKED;
}

static spool_unpacked take_shared(spool_unpacker *u, spool_record *record, const field *f,
                                  size_t known)
{
    spool_unpacked_kind *kind = &u->kinds[record->kind];
    spool_unpacked done = SPOOL_UNPACKED;
    uint64_t which;
    size_t number;
    if (kind->n_shared == 0) return SPOOL_UNPACKED;
    if (!take(u, &which) || which > kind->n) return SPOOL_DAMAGED;
    number = (size_t)which - 1;
    if (which == 0) done = take_new(u, kind, known, &number);
    for (size_t i = 0; done == SPOOL_UNPACKED && i < known; i++)
        set(record, f[i], kind->shared[number * known + i]);
    return done;
}

static bool take_own(spool_unpacker *u, spool_record *record, const field *f, size_t known)
{
    spool_unpacked_kind *kind = &u->kinds[record->kind];
    uint64_t value = 0, step;
    for (size_t i = 0; i < kind->n_own; i++) {
        if (!take(u, &step)) return false;
        if (i >= known) continue;
        value = f[i].how == LENGTH ? value + step : kind->last[i] + unfold(step);
        kind->last[i] = value;
        set(record, f[i], value);
    }
    return true;
}

static void set_text(spool_record *record, const field *f, const char *text)
{
    memcpy((uint8_t *)record + f->offset, &text, sizeof text);
}

/* `f` is NULL: it is passed over. */
static spool_unpacked take_text(spool_unpacker *u, spool_record *record, const field *f)
{
    uint64_t n;
    if (!take(u, &n) || n >= SPOOL_TEXT_MOST || n > (size_t)(u->end - u->at)) return SPOOL_DAMAGED;
    const uint8_t *text = u->at;
    u->at += n;
    if (!f) return SPOOL_UNPACKED;
    if (!SL__GROW(u->text, u->text_cap, (size_t)n + 1)) return SPOOL_NO_MEMORY;
    memcpy(u->text, text, (size_t)n);
    u->text[n] = '\0';
    set_text(record, f, u->text);
    return SPOOL_UNPACKED;
}

static spool_unpacked take_record(spool_unpacker *u, spool_record *record, const row *known)
{
    spool_unpacked_kind *kind = &u->kinds[record->kind];
    const counts n = count(known->fields);
    if (!take_counts(u, kind)) return SPOOL_DAMAGED;
    spool_unpacked done = take_shared(u, record, known->fields, n.shared);
    if (done != SPOOL_UNPACKED) return done;
    if (!take_own(u, record, known->fields + n.shared, n.own)) return SPOOL_DAMAGED;
    const field *text = n.text ? known->fields + n.shared + n.own : NULL;
    if (text) set_text(record, text, "");
    return kind->has_text ? take_text(u, record, text) : SPOOL_UNPACKED;
}

spool_unpacked spool_unpack(spool_unpacker *u, spool_record *record)
{
    static const row unknown;
    uint64_t kind = SPOOL_KINDS;
    spool_unpacked done = SPOOL_UNPACKED;
    while (done == SPOOL_UNPACKED && kind >= SPOOL_KINDS) {
        if (u->at == u->end) return SPOOL_AT_END;
        if (!take(u, &kind) || kind == 0 || kind >= SPOOL_KINDS_MOST) return SPOOL_DAMAGED;
        memset(record, 0, sizeof *record);
        record->kind = (spool_kind)kind;
        done = take_record(u, record, kind < SPOOL_KINDS ? &rows[kind] : &unknown);
    }
    return done;
}

void spool_unpack_free(spool_unpacker *u)
{
    for (size_t i = 0; i < SPOOL_KINDS_MOST; i++)
        free(u->kinds[i].shared);
    free(u->text);
    *u = (spool_unpacker){ 0 };
}
