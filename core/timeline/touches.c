/* touches.c - the memory that spans and calls touch, as bytes.
 *
 * Of each operation: how far its correlation is from that of the one before; 1 + its slot among
 * recent operands, or 0, their number, and each of them: how far the number of its memory is from
 * that of the one before, its first byte, and 4 times its length with its access. Numbers have 7
 * bits a byte, the lowest first, and the eighth says that another byte follows; differences are
 * 0, -1, 1, -2 as 0, 1, 2, 3.
 */
#include "fields.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"

enum {
    MOST_TOUCHES = 4000000,
    SLOT_BITS = 6,
    SLOTS = 1 << SLOT_BITS,
    MOST_RECENT = 4, /* operands that have a slot; more do not */
    NUMBER_BYTES = 10
};

typedef struct operands {
    sl_touch_note at[MOST_RECENT];
    size_t n;
} operands;

typedef struct sl__recent {
    operands slot[SLOTS];
} sl__recent;

/* ---- numbers ---- */

static void put(sl__touches *t, uint64_t number)
{
    for (; number > 0x7f; number >>= 7)
        t->bytes[t->n_bytes++] = (uint8_t)(number | 0x80);
    t->bytes[t->n_bytes++] = (uint8_t)number;
}

/* *last becomes `number`. */
static void put_difference(sl__touches *t, uint64_t number, uint64_t *last)
{
    const uint64_t difference = number - *last;
    put(t, difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0));
    *last = number;
}

static uint64_t take(const uint8_t **at)
{
    uint64_t number = 0;
    for (int bits = 0;; bits += 7) {
        const uint8_t byte = *(*at)++;
        number |= (uint64_t)(byte & 0x7f) << bits;
        if (byte < 0x80) return number;
    }
}

static uint64_t take_difference(const uint8_t **at, uint64_t *last)
{
    const uint64_t coded = take(at);
    return *last += coded >> 1 ^ (coded & 1 ? UINT64_MAX : 0);
}

/* ---- recent operands ---- */

static bool are_same(const operands *recent, const sl_touch_note *notes, size_t n)
{
    if (recent->n != n) return false;
    for (size_t i = 0; i < n; i++) {
        const sl_touch_note *a = &recent->at[i], *b = &notes[i];
        if (a->memory != b->memory || a->from != b->from || a->to != b->to
            || a->access != b->access)
            return false;
    }
    return true;
}

/* The one in which these operands are, if they have been there of late. */
static size_t slot_of(const sl_touch_note *notes, size_t n)
{
    uint64_t hash = n;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ notes[i].memory * 4 ^ notes[i].from ^ notes[i].access) * 0x9e3779b97f4a7c15;
    return (size_t)(hash >> (64 - SLOT_BITS));
}

static void remember(operands *recent, const sl_touch_note *notes, size_t n)
{
    memcpy(recent->at, notes, n * sizeof *notes);
    recent->n = n;
}

/* ---- adding ---- */

static bool make_room(sl__touches *t, size_t n)
{
    if (!t->recent) t->recent = calloc(1, sizeof *t->recent);
    return t->recent && SL__GROW(t->bytes, t->cap, t->n_bytes + (3 + 3 * n) * NUMBER_BYTES);
}

static void put_operands(sl__touches *t, const sl_touch_note *notes, size_t n)
{
    put(t, 0);
    put(t, n);
    for (size_t i = 0; i < n; i++) {
        put_difference(t, notes[i].memory, &t->memory);
        put(t, notes[i].from);
        put(t, (notes[i].to - notes[i].from) << 2 | notes[i].access);
    }
}

sl_status sl_timeline_add_touches(sl_timeline *timeline, const sl_touch_note *notes, size_t n,
                                  sl_error *err)
{
    sl__touches *t = &timeline->touches;
    if (n == 0 || timeline->summary || t->n >= MOST_TOUCHES) return SL_OK;
    if (!make_room(t, n)) return sl__no_memory(err, "more than %zu operands of a timeline", t->n);
    operands *recent = n <= MOST_RECENT ? &t->recent->slot[slot_of(notes, n)] : NULL;
    put_difference(t, notes->correlation, &t->correlation);
    if (recent && are_same(recent, notes, n)) {
        put(t, 1 + (uint64_t)(recent - t->recent->slot));
    } else {
        put_operands(t, notes, n);
        if (recent) remember(recent, notes, n);
    }
    t->n += n;
    return SL_OK;
}

void sl__touches_trim(sl__touches *t)
{
    SL__TRIM(t->bytes, t->cap, t->n_bytes);
    free(t->recent);
    t->recent = NULL;
}

void sl__touches_free(sl__touches *t)
{
    free(t->bytes);
    free(t->recent);
}

/* ---- reading ---- */

static size_t take_operands(const uint8_t **at, uint64_t *memory, sl_touch_note *to)
{
    const size_t n = (size_t)take(at);
    for (size_t i = 0; i < n; i++) {
        to[i].memory = take_difference(at, memory);
        to[i].from = take(at);
        const uint64_t length = take(at);
        to[i].to = to[i].from + (length >> 2);
        to[i].access = length & (SL_TOUCH_READS | SL_TOUCH_WRITES);
    }
    return n;
}

static void read_all(const sl__touches *t, sl__recent *recent, sl_touch_note *to)
{
    const uint8_t *at = t->bytes;
    uint64_t correlation = 0, memory = 0;
    while (at < t->bytes + t->n_bytes) {
        take_difference(&at, &correlation);
        const size_t slot = (size_t)take(&at);
        size_t n;
        if (slot > 0) {
            n = recent->slot[slot - 1].n;
            memcpy(to, recent->slot[slot - 1].at, n * sizeof *to);
        } else {
            n = take_operands(&at, &memory, to);
            if (n <= MOST_RECENT) remember(&recent->slot[slot_of(to, n)], to, n);
        }
        for (size_t i = 0; i < n; i++)
            (to++)->correlation = correlation;
    }
}

bool sl_timeline_has_touches(const sl_timeline *timeline) { return timeline->touches.n > 0; }

sl_status sl_timeline_touches(const sl_timeline *timeline, sl_touch_note **notes, size_t *n,
                              sl_error *err)
{
    const sl__touches *t = &timeline->touches;
    sl__recent *recent = calloc(1, sizeof *recent);
    *n = t->n;
    *notes = calloc(t->n + 1, sizeof **notes);
    if (*notes && recent) {
        read_all(t, recent, *notes);
        free(recent);
        return SL_OK;
    }
    free(recent);
    free(*notes);
    *notes = NULL;
    return sl__no_memory(err, "%zu operands of a timeline", t->n);
}
