/* t-30-race-memory.c - the histories of byte ranges, held against a list of all accesses.
 *
 * Three streams touch random ranges of 48 bytes and now and then see one another. The list
 * knows every access with the clock that it had; a byte races if any conflicting access of it
 * is not in the new one's clock. On bytes that have raced before, what the histories have
 * dropped may matter: they are left out from then on. */
#include "fake_backend.h"

#include "../../core/race/buffer_history.h"

enum { BYTES = 48, SLOTS = 4, MOST = 400 };

typedef struct entry {
    uint32_t slot;
    uint64_t epoch;
    bool writes;
    size_t first, end;
} entry;

typedef struct model {
    entry entries[MOST];
    int n;
    uint64_t clock[SLOTS][SLOTS];
    bool tainted[BYTES];
} model;

static uint32_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

static void racing_bytes(const model *m, const entry *new, bool raced[BYTES])
{
    memset(raced, 0, BYTES);
    for (int i = 0; i < m->n; i++) {
        const entry *old = &m->entries[i];
        if (!(old->writes || new->writes) || old->slot == new->slot
            || m->clock[new->slot][old->slot] >= old->epoch)
            continue;
        for (size_t b = old->first; b < old->end; b++)
            if (b >= new->first && b < new->end) raced[b] = true;
    }
}

typedef struct met {
    const uint64_t *clock;
    const entry *new;
    bool raced[BYTES];
} met;

static void note_met(void *ud, const sl__access *earlier)
{
    met *m = ud;
    if (earlier->slot == m->new->slot || m->clock[earlier->slot] >= earlier->epoch) return;
    for (size_t b = earlier->first; b < earlier->end; b++)
        m->raced[b] = m->raced[b] || (b >= m->new->first &&b < m->new->end);
}

static sl__vector *vector_of(const uint64_t clock[SLOTS])
{
    sl__vector *vector = NULL;
    bool raised;
    for (uint32_t i = 1; i < SLOTS; i++)
        sl__vector_join(&vector, NULL, i, clock[i], &raised);
    return vector;
}

/* What all slots have seen: nothing new races with it. */
static sl__vector *settled_of(const model *m)
{
    uint64_t least[SLOTS] = { 0 };
    for (int i = 1; i < SLOTS; i++) {
        least[i] = UINT64_MAX;
        for (int j = 1; j < SLOTS; j++)
            if (m->clock[j][i] < least[i]) least[i] = m->clock[j][i];
    }
    return vector_of(least);
}

/* False: the histories and the list differ. */
static bool step(model *m, sl__race_memory *memory)
{
    entry new = { .slot = 1 + random_below(SLOTS - 1), .writes = random_below(3) == 0 };
    uint64_t *clock = m->clock[new.slot];
    bool expected[BYTES];
    met found = { .clock = clock, .new = &new };
    sl__vector *seen, *settled;
    if (random_below(3) == 0) {
        const uint64_t *other = m->clock[1 + random_below(SLOTS - 1)];
        for (int i = 1; i < SLOTS; i++)
            clock[i] = other[i] > clock[i] ? other[i] : clock[i];
    }
    new.epoch = ++clock[new.slot];
    new.first = random_below(BYTES);
    new.end = new.first + 1 + random_below((uint32_t)(BYTES - new.first));
    racing_bytes(m, &new, expected);
    sl__access access = {
        .slot = new.slot,
        .epoch = new.epoch,
        .first = new.first,
        .end = new.end,
        .kind = new.writes ? SL_ACCESS_WRITE : SL_ACCESS_READ,
    };
    sl__memory_meet(memory, &access, new.first, new.end, false, note_met, &found);
    for (int b = 0; b < BYTES; b++) {
        if (!m->tainted[b] && expected[b] != found.raced[b]) return false;
        m->tainted[b] = m->tainted[b] || expected[b];
    }
    seen = vector_of(clock);
    settled = settled_of(m);
    bool noted = sl__memory_note(memory, &access, new.first, new.end, seen, false, settled);
    if (random_below(10) == 0) sl__memory_compact(memory, settled);
    sl__vector_release(seen);
    sl__vector_release(settled);
    m->entries[m->n++] = new;
    return noted;
}

static bool in_order(const sl__race_memory *memory)
{
    for (size_t i = 0; i < memory->n; i++)
        if (memory->ranges[i].first >= memory->ranges[i].end
            || (i > 0 && memory->ranges[i - 1].end > memory->ranges[i].first))
            return false;
    return true;
}

/* When everything new comes after all that there was. */
static size_t accesses_left(sl__race_memory *memory)
{
    sl__vector *all = NULL;
    bool raised;
    for (uint32_t i = 1; i < SLOTS; i++)
        sl__vector_join(&all, NULL, i, UINT64_MAX, &raised);
    sl__memory_compact(memory, all);
    sl__vector_release(all);
    return sl__memory_accesses(memory);
}

static void test_random(void)
{
    sl_buffer buffer = { .bytes = BYTES };
    int agreed = 0, ordered = 0, runs = 300;
    size_t left = 0;
    for (int run = 0; run < runs; run++) {
        model m = { .n = 0 };
        sl__race_memory *memory = sl__memory_new(&buffer);
        bool same = true, sorted = true;
        random_state = (uint32_t)run;
        for (int i = 0; i < 60 && same; i++) {
            same = step(&m, memory);
            sorted = sorted && in_order(memory);
        }
        agreed += same;
        ordered += sorted;
        left += accesses_left(memory);
        sl__memory_free(memory);
    }
    is_int(agreed, runs,
           "histories find a race on the bytes on which the list of all accesses does");
    is_int(ordered, runs, "ranges stay apart and ascending");
    is_int((int)left, 0, "and hold nothing once everything new comes after all that there was");
}

/* ---- many readers of the same bytes: those that no later one comes after ---- */

enum { READERS = 300, READS = 6000 };

typedef struct readers {
    uint64_t clock[READERS][READERS];
    uint64_t left[READERS]; /* the epoch of each one's last read, 0: another one comes after it */
} readers;

static void join_reader(readers *r, uint32_t slot, uint32_t other)
{
    for (int i = 0; i < READERS; i++)
        if (r->clock[other][i] > r->clock[slot][i]) r->clock[slot][i] = r->clock[other][i];
}

static void read_in_model(readers *r, uint32_t slot)
{
    for (int i = 0; i < READERS; i++)
        if (r->left[i] && r->clock[slot][i] >= r->left[i]) r->left[i] = 0;
    r->left[slot] = ++r->clock[slot][slot];
}

static sl__vector *vector_of_reader(const readers *r, uint32_t slot)
{
    sl__vector *vector = NULL;
    bool raised;
    for (uint32_t i = 1; i < READERS; i++)
        if (i != slot) sl__vector_join(&vector, NULL, i, r->clock[slot][i], &raised);
    return vector;
}

static void read_once(readers *r, sl__race_memory *memory, uint32_t slot)
{
    sl__access access = { .slot = slot, .end = 16, .kind = SL_ACCESS_READ };
    sl__vector *seen = vector_of_reader(r, slot);
    read_in_model(r, slot);
    access.epoch = r->clock[slot][slot];
    sl__memory_note(memory, &access, 0, 16, seen, false, NULL);
    sl__vector_release(seen);
}

static void take_off(void *ud, const sl__access *earlier)
{
    uint64_t *left = ud;
    left[earlier->slot] -= earlier->epoch;
}

/* The histories have the reads that the model has left, in each slot. */
static bool same_readers(const readers *r, const sl__race_memory *memory)
{
    const sl__access write = { .slot = READERS, .epoch = 1, .end = 16, .kind = SL_ACCESS_WRITE };
    uint64_t left[READERS];
    memcpy(left, r->left, sizeof left);
    sl__memory_meet(memory, &write, 0, 16, false, take_off, left);
    for (int i = 0; i < READERS; i++)
        if (left[i] != 0) return false;
    return true;
}

static void test_readers(void)
{
    static readers r;
    sl_buffer buffer = { .bytes = 16 };
    sl__race_memory *memory = sl__memory_new(&buffer);
    int same = 0;
    random_state = 1;
    for (int i = 0; i < READS; i++) {
        uint32_t slot = 1 + random_below(READERS - 1);
        if (random_below(4) == 0) join_reader(&r, slot, 1 + random_below(READERS - 1));
        read_once(&r, memory, slot);
        same += same_readers(&r, memory);
    }
    is_int(same, READS, "of many readers those are kept that no later one comes after");
    sl__memory_free(memory);
}

static bool write_range(sl__race_memory *memory, uint32_t slot, uint64_t epoch, size_t first,
                        size_t end)
{
    sl__access access = { .slot = slot, .epoch = epoch, .kind = SL_ACCESS_WRITE };
    return sl__memory_note(memory, &access, first, end, NULL, false, NULL);
}

static void test_ranges(void)
{
    sl_buffer buffer = { .bytes = 1 << 20 };
    sl__race_memory *memory = sl__memory_new(&buffer);
    sl__access read = { .slot = 2, .epoch = 1, .kind = SL_ACCESS_READ };
    write_range(memory, 1, 1, 10, 20);
    is_int((int)memory->n, 1, "one access is one range");
    write_range(memory, 1, 2, 12, 14);
    is_int((int)memory->n, 3, "one inside cuts it in three");
    write_range(memory, 1, 3, 0, 100);
    is_int((int)memory->n, 1, "a write over all of them leaves one");
    sl__memory_note(memory, &read, 50, 200, NULL, false, NULL);
    is_int((int)memory->n, 3, "a read over an edge has a range on each side");
    read.epoch = 2;
    sl__memory_note(memory, &read, 50, 200, NULL, false, NULL);
    is_int((int)memory->n, 3, "the next one like it has the same");
    is_int((int)memory->ranges[1].history->others.n, 1, "and takes the first one's place");
    write_range(memory, 1, 4, 300, 300);
    is_int((int)memory->n, 3, "no bytes, no range");
    sl__memory_free(memory);
}

static void test_bounds(void)
{
    sl_buffer buffer = { .bytes = (size_t)1 << 20 };
    sl__race_memory *memory = sl__memory_new(&buffer);
    sl__vector *settled = NULL;
    bool raised, noted = true;
    for (uint64_t i = 0; i < 1000; i++)
        write_range(memory, 1, i + 1, (size_t)(2 * i), (size_t)(2 * i) + 1);
    is_int((int)memory->n, 1000, "what is unsettled is kept");
    sl__vector_join(&settled, NULL, 1, 990, &raised);
    sl__memory_compact(memory, settled);
    is_int((int)memory->n, 10, "what everything new comes after is dropped");
    sl__vector_release(settled);
    for (uint64_t i = 0; i < 200000; i++)
        noted = write_range(memory, 1, i + 1, (size_t)(2 * i), (size_t)(2 * i) + 1) && noted;
    ok(noted && memory->n <= 1 << 16, "the ranges of one buffer are bounded");
    sl__memory_free(memory);
}

static void note_kept(sl__race_memory *memory, sl__access access)
{
    sl__vector *seen = NULL;
    bool raised;
    access.end = 16;
    sl__vector_join(&seen, NULL, access.slot, access.epoch, &raised);
    sl__memory_note(memory, &access, 0, 16, seen, true, NULL);
    sl__vector_release(seen);
}

/* A pipeline in which a host function is always waiting. */
static void test_kept(void)
{
    sl_buffer buffer = { .bytes = 16 };
    sl__race_memory *memory = sl__memory_new(&buffer);
    uint64_t epoch;
    for (epoch = 1; epoch <= 1000; epoch++) {
        note_kept(memory, (sl__access){ .slot = 1, .epoch = epoch, .kind = SL_ACCESS_READ });
        note_kept(memory, (sl__access){ .slot = 2, .epoch = epoch, .kind = SL_ACCESS_READ });
        note_kept(memory, (sl__access){ .slot = 3, .epoch = epoch, .kind = SL_ACCESS_WRITE });
    }
    ok(sl__memory_accesses(memory) < 80, "what is kept for a host function is bounded");
    ok(memory->ranges[0].history->past.n > 60, "and it is the bound");
    for (uint32_t i = 0; i < memory->ranges[0].history->past.n; i++)
        if (sl__access_at(&memory->ranges[0].history->past, i)->epoch < epoch - 40) epoch = 0;
    ok(epoch > 0, "the oldest have gone first");
    sl__memory_free(memory);
}

static void test_host_functions(void)
{
    sl_buffer buffer = { .bytes = 16 };
    sl__race_memory *memory = sl__memory_new(&buffer);
    sl__access access = { .slot = 1, .kind = SL_ACCESS_WRITE, .by = SL__BY_HOST_FUNC };
    for (access.epoch = 1; access.epoch <= 1000; access.epoch++)
        note_kept(memory, access);
    is_int((int)memory->ranges[0].history->others.n, 1,
           "of host functions one after the other the last one counts");
    ok(sl__memory_accesses(memory) < 80, "and what they did is bounded");
    access.kind = SL_ACCESS_READ;
    note_kept(memory, access);
    access.epoch++;
    note_kept(memory, access);
    is_int((int)memory->ranges[0].history->others.n, 2, "a read takes the place of reads alone");
    sl__memory_free(memory);
}

static void test_neighbours(void)
{
    sl_buffer buffer = { .bytes = 64 };
    sl__race_memory *memory = sl__memory_new(&buffer);
    sl__access first = { .slot = 1, .epoch = 1, .kind = SL_ACCESS_READ };
    sl__memory_note(memory, &first, 0, 16, NULL, false, NULL);
    sl__memory_note(memory, &first, 16, 32, NULL, false, NULL);
    is_int((int)memory->n, 1, "two neighbours that one operation has read become one range");
    is_int((int)memory->ranges[0].end, 32, "of all their bytes");
    sl__memory_free(memory);
}

static void test_vectors(void)
{
    sl__vector *a = NULL, *b;
    bool raised = false;
    ok(sl__vector_join(&a, NULL, 3, 0, &raised) && !a && !raised, "nothing joined is nothing");
    sl__vector_join(&a, NULL, 3, 7, &raised);
    ok(raised && sl__vector_at(a, 3) == 7 && sl__vector_at(a, 2) == 0, "a slot is raised");
    b = sl__vector_retain(a);
    sl__vector_join(&a, NULL, 9, 1, &raised);
    ok(a != b && sl__vector_at(a, 9) == 1 && sl__vector_at(b, 9) == 0,
       "one that others hold is not changed");
    raised = false;
    sl__vector_join(&a, b, 3, 5, &raised);
    ok(!raised && sl__vector_at(a, 3) == 7, "what is known already raises nothing");
    sl__vector_release(a);
    sl__vector_release(b);
}

enum { ENTRIES = 12 };

/* Slots in one leaf of a vector, at the edges of leaves, and far away. */
static const uint32_t slots[ENTRIES] = { 0, 1, 2, 31, 32, 33, 63, 64, 1023, 1024, 1025, 40000 };

typedef struct news {
    uint64_t plain[ENTRIES];
    int wrong;
} news;

static void note_raised(void *ud, uint32_t slot, uint64_t epoch)
{
    news *r = ud;
    int i = 0;
    while (i < ENTRIES && slots[i] != slot)
        i++;
    r->wrong += i == ENTRIES || epoch <= r->plain[i];
    if (i < ENTRIES) r->plain[i] = epoch;
}

/* Vectors that share what they can say what plain copies do, and a change of one is none of
 * another. */
static void test_shared_vectors(void)
{
    enum { VECTORS = 6 };
    sl__vector *vectors[VECTORS] = { NULL };
    uint64_t plain[VECTORS][ENTRIES] = { { 0 } };
    int wrong = 0;
    for (int step = 0; step < 20000; step++) {
        uint32_t to = random_below(VECTORS), from = random_below(VECTORS);
        uint32_t slot = 1 + random_below(ENTRIES - 1);
        sl__vector *before = sl__vector_retain(vectors[to]);
        news r = { .wrong = 0 };
        uint64_t epoch = random_below(3) ? 0 : plain[to][slot] + random_below(3);
        bool raised = false, expected = epoch > plain[to][slot] && epoch > plain[from][slot];
        if (random_below(300) == 0) {
            sl__vector_release(vectors[to]);
            vectors[to] = NULL;
            memset(plain[to], 0, sizeof plain[to]);
            sl__vector_release(before);
            continue;
        }
        memcpy(r.plain, plain[to], sizeof r.plain);
        for (int i = 0; i < ENTRIES; i++) {
            expected = expected || plain[from][i] > plain[to][i];
            plain[to][i] = plain[from][i] > plain[to][i] ? plain[from][i] : plain[to][i];
        }
        plain[to][slot] = epoch > plain[to][slot] ? epoch : plain[to][slot];
        wrong += !sl__vector_join(&vectors[to], vectors[from], slots[slot], epoch, &raised);
        wrong += expected && !raised;
        sl__vector_each_raised(before, vectors[to], note_raised, &r);
        wrong += r.wrong + (memcmp(r.plain, plain[to], sizeof r.plain) != 0);
        sl__vector_release(before);
        for (uint32_t v = 0; v < VECTORS; v++)
            for (uint32_t i = 0; i < ENTRIES; i++)
                wrong += sl__vector_at(vectors[v], slots[i]) != plain[v][i];
    }
    is_int(wrong, 0,
           "20,000 random joins of vectors that share give what plain arrays do, and "
           "tell what they have raised");
    for (int i = 0; i < VECTORS; i++)
        sl__vector_release(vectors[i]);
}

int main(void)
{
    test_random();
    test_readers();
    test_ranges();
    test_bounds();
    test_kept();
    test_host_functions();
    test_neighbours();
    test_vectors();
    test_shared_vectors();
    return done_testing();
}
