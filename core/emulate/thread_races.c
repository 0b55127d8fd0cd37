/* thread_races.c - finds accesses that nothing orders.
 *
 * One thread runs at a time, so there is one time for all, which goes on whenever threads meet.
 * Each cell of four bytes remembers its last write and two reads: who, when, where. An earlier
 * access is ordered before the running thread's if its time lies before a point at which both
 * threads met: the block's last barrier, one of the warp's, the grid's. Threads that have not met
 * are ordered by what one of them published (a fence, then an atomic) and the other saw (an atomic
 * on the same address).
 *
 * What this misses: a third read of the same bytes, and bytes of one cell that different threads
 * write; then another element of the same array shows the race.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define _DARWIN_C_SOURCE
#include "thread_races.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "places.h"
#include "report.h"
#include "block_threads.h"

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

enum { CELL = 4, LANES = 32, MOST_SITES = 1 << 10, MOST_OLD = 256, LAST_TIME = (1 << 27) - 1 };

typedef struct record { /* of an access; time 0: of none */
    uint32_t time : 27;
    uint32_t mask : 4; /* the cell's bytes */
    uint32_t atomic : 1;
    uint32_t thread : 22; /* of the launch */
    uint32_t site : 10;
} record;

struct emu_cell {
    record write, reads[2];
    uint32_t published; /* the time up to which who reads it with an atomic sees what was written */
    uint32_t unused;
};

typedef struct conflict {
    const char *address;
    record first, second; /* the second is the running thread's */
    bool first_writes, second_writes, shared;
} conflict;

/* The order of threads so far. */
static struct {
    bool on;
    uint32_t now, grid;
    uint32_t threads, warps;  /* of a block */
    uint32_t block, first;    /* that runs: its number, that of its first thread */
    uint32_t *barrier, *seen; /* of each block: its last barrier; up to when it sees others */
    uint32_t *warp;           /* of each warp: when all of it last met */
    uint32_t *fence;          /* of each thread: its last one */
    uint32_t *fenced_block, *fenced_warp; /* accesses of all of it before that were fenced */
    uint32_t (*lanes)[LANES]; /* of each thread: up to when it has met each lane of its warp */
} order;

static const void *sites[MOST_SITES]; /* where accesses are made */
static uint32_t n_sites;
static uint16_t *site_of; /* of each byte of the code */
static const char *code;
static size_t code_bytes;

/* A write that would be a race if it changed what is there. */
static struct {
    bool is_open;
    conflict what;
    const char *address;
    size_t bytes;
    unsigned char old[MOST_OLD];
} pending;

/* A plain read of what others change with atomics, which is none if this thread goes on with an
 * atomic there: a loop around atomicCAS begins so. */
static struct {
    bool is_open;
    conflict what;
} suspect;

emu_cell *emu_cells_new(size_t bytes)
{
    void *cells = mmap(NULL, (bytes / CELL + 1) * sizeof(emu_cell), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return cells == MAP_FAILED ? NULL : cells;
}

/* ---- reports ---- */

static void thread_text(uint32_t thread, char text[48])
{
    unsigned at[3];
    emu_place_thread(thread % order.threads, at);
    snprintf(text, 48, "(%u,%u,%u)", at[0], at[1], at[2]);
}

static void block_text(uint32_t thread, char text[48])
{
    unsigned at[3];
    emu_place_block(thread / order.threads, at);
    snprintf(text, 48, "(%u,%u,%u)", at[0], at[1], at[2]);
}

static const char *does(const record *r, bool writes)
{
    return r->atomic ? "uses an atomic" : writes ? "writes" : "reads";
}

static const void *pc_of(const record *r) { return sites[r->site]; }

static _Noreturn void fail_in_block(const conflict *c, const char *place)
{
    const uint32_t a = c->first.thread % order.threads, b = c->second.thread % order.threads;
    const char *barrier = a / LANES != b / LANES ? "__syncthreads()"
                          : order.warps == 1     ? "__syncwarp()"
                                                 : "__syncthreads() (__syncwarp() within a warp)";
    char first[48], second[48], block[48];
    thread_text(a, first);
    thread_text(b, second);
    block_text(c->first.thread, block);
    if (c->first_writes && c->second_writes && !c->first.atomic && !c->second.atomic)
        emu_fail_at(pc_of(&c->second), pc_of(&c->first),
                    "threads %s and %s of block %s write %s without a barrier between them: use an "
                    "atomic (atomicAdd), or put a %s between",
                    first, second, block, place, barrier);
    emu_fail_at(
        pc_of(&c->second), pc_of(&c->first),
        "threads %s and %s of block %s use %s without a barrier between them: the one %s\2, "
        "the other %s\1; put a %s between",
        first, second, block, place, does(&c->first, c->first_writes),
        does(&c->second, c->second_writes), barrier);
}

static _Noreturn void fail_between_blocks(const conflict *c, const char *place)
{
    char a[48], b[48], in_a[48], in_b[48];
    thread_text(c->first.thread, a);
    thread_text(c->second.thread, b);
    block_text(c->first.thread, in_a);
    block_text(c->second.thread, in_b);
    if (c->first_writes && c->second_writes && !c->first.atomic && !c->second.atomic)
        emu_fail_at(pc_of(&c->second), pc_of(&c->first),
                    "thread %s of block %s and thread %s of block %s write %s: blocks run "
                    "in any order, so only atomics (atomicAdd) can do that",
                    a, in_a, b, in_b, place);
    emu_fail_at(pc_of(&c->second), pc_of(&c->first),
                "thread %s of block %s and thread %s of block %s use %s: the one %s\2, the other "
                "%s\1; blocks run in any order: use atomics, two launches, or a grid's sync()",
                a, in_a, b, in_b, place, does(&c->first, c->first_writes),
                does(&c->second, c->second_writes));
}

static _Noreturn void fail(const conflict *c)
{
    char place[EMU_PLACE_BYTES];
    emu_place_of(c->address, place);
    if (c->first.thread / order.threads == c->second.thread / order.threads)
        fail_in_block(c, place);
    fail_between_blocks(c, place);
}

static void settle_pending(void)
{
    pending.is_open = false;
    if (pending.bytes > MOST_OLD || memcmp(pending.old, pending.address, pending.bytes) != 0)
        fail(&pending.what);
}

static void settle_suspect(void)
{
    if (suspect.is_open) fail(&suspect.what);
}

void emu_races_settle(void)
{
    if (pending.is_open) settle_pending();
}

/* ---- order ---- */

static uint32_t number_of_warp(uint32_t thread)
{
    return thread / order.threads * order.warps + thread % order.threads / LANES;
}

/* Whether the running thread is of the same block and has met the other one since. */
static bool has_met(const record *r, uint32_t thread)
{
    const uint32_t other = r->thread - order.first, self = thread - order.first;
    if (other >= order.threads) return false;
    if (r->time < order.barrier[order.block]) return true;
    if (other / LANES != self / LANES) return false;
    return r->time < order.warp[order.block * order.warps + self / LANES]
           || r->time < order.lanes[thread][other % LANES];
}

static bool has_seen(const record *r)
{
    if (r->time >= order.seen[order.block]) return false;
    return r->time < order.fence[r->thread]
           || r->time < order.fenced_warp[number_of_warp(r->thread)]
           || r->time < order.fenced_block[r->thread / order.threads];
}

static bool is_ordered(const record *r, uint32_t thread)
{
    return r->time < order.grid || r->thread == thread || has_met(r, thread) || has_seen(r);
}

static uint32_t tick(void)
{
    emu_races_settle();
    settle_suspect();
    if (order.now == LAST_TIME) order.on = false; /* after a hundred million barriers */
    if (order.on) order.now++;
    return order.now;
}

void emu_races_block(uint64_t index)
{
    if (!order.on) return;
    tick();
    order.block = (uint32_t)index;
    order.first = order.block * order.threads;
}

void emu_races_barrier(void)
{
    if (order.on) order.barrier[order.block] = tick();
}

void emu_races_grid(void)
{
    if (order.on) order.grid = tick();
}

/* Lanes that have met see all that each of them has seen. */
static void join_lanes(uint32_t first, uint32_t lanes, uint32_t now)
{
    uint32_t joined[LANES] = { 0 };
    for (uint32_t i = 0; i < LANES; i++)
        for (uint32_t k = 0; k < LANES && (lanes >> i & 1); k++)
            if (order.lanes[first + i][k] > joined[k]) joined[k] = order.lanes[first + i][k];
    for (uint32_t i = 0; i < LANES; i++)
        if (lanes >> i & 1) joined[i] = now;
    for (uint32_t i = 0; i < LANES; i++)
        if (lanes >> i & 1) memcpy(order.lanes[first + i], joined, sizeof joined);
}

void emu_races_warp(unsigned warp, uint32_t lanes)
{
    const uint32_t left = order.threads - warp * LANES;
    const uint32_t all = left >= LANES ? UINT32_MAX : (1u << left) - 1;
    if (!order.on) return;
    if ((lanes & all) == all)
        order.warp[order.block * order.warps + warp] = tick();
    else
        join_lanes(order.first + warp * LANES, lanes & all, tick());
}

static void raise_to(uint32_t *time, uint32_t to)
{
    if (*time < to) *time = to;
}

void emu_races_fence(void)
{
    const uint32_t thread = order.first + emu_current_thread(), warp = number_of_warp(thread);
    if (!order.on) return;
    emu_races_settle();
    if (order.now == LAST_TIME) return;
    order.fence[thread] = ++order.now;
    raise_to(&order.fenced_warp[warp], order.warp[warp]);
    raise_to(&order.fenced_block[order.block], order.barrier[order.block]);
}

/* ---- accesses ---- */

static uint16_t find_site(const void *pc)
{
    const size_t at = (size_t)((const char *)pc - 1 - code);
    if (at >= code_bytes) return 0;
    if (!site_of[at] && n_sites + 1 < MOST_SITES) {
        sites[++n_sites] = (const char *)pc - 1;
        site_of[at] = (uint16_t)n_sites;
    }
    return site_of[at];
}

/* What an access is, while its cells are looked at. */
typedef struct touch {
    const emu_access_of *access;
    const char *at; /* its first byte in the cell */
    record self;
    bool writes, shared;
} touch;

/* An earlier access to the same bytes that nothing orders. */
static bool collides(const touch *t, const record *r)
{
    if (!r->time || !(r->mask & t->self.mask) || (r->atomic && t->self.atomic)) return false;
    if (r->thread == t->self.thread || is_ordered(r, t->self.thread)) return false;
    return !t->shared || r->thread - order.first < order.threads; /* another block's is another */
}

static conflict conflict_of(const touch *t, const record *r, bool r_writes)
{
    return (conflict){ t->at, *r, t->self, r_writes, t->writes, t->shared };
}

static void keep_pending(const touch *t, const record *r, bool r_writes)
{
    if (pending.is_open) return;
    pending.is_open = true;
    pending.what = conflict_of(t, r, r_writes);
    pending.address = t->access->address;
    pending.bytes = t->access->bytes;
    if (pending.bytes <= MOST_OLD) memcpy(pending.old, pending.address, pending.bytes);
}

static void keep_suspect(const touch *t, const record *r)
{
    if (suspect.is_open) return;
    suspect.is_open = true;
    suspect.what = conflict_of(t, r, true);
}

/* Of memory that all blocks have, plain reads beside atomics are no mistake: they look whether an
 * atomic is worth it. */
static void check_read(const touch *t, const emu_cell *cell)
{
    if (!collides(t, &cell->write)) return;
    if (cell->write.atomic) {
        if (t->shared) keep_suspect(t, &cell->write);
        return;
    }
    if (t->self.atomic && !t->shared) return;
    conflict c = conflict_of(t, &cell->write, true);
    fail(&c);
}

static void check_write(const touch *t, const emu_cell *cell)
{
    if (collides(t, &cell->write)) keep_pending(t, &cell->write, true);
    for (int i = 0; i < 2; i++)
        if (collides(t, &cell->reads[i])
            && (t->shared || !(t->self.atomic | cell->reads[i].atomic)))
            keep_pending(t, &cell->reads[i], false);
}

static bool is_far(uint32_t a, uint32_t b) { return number_of_warp(a) != number_of_warp(b); }

/* Two readers are kept, if possible of different warps: so whoever writes, one of them is another
 * thread. */
static void add_read(emu_cell *cell, const touch *t)
{
    record *reads = cell->reads;
    for (int i = 0; i < 2; i++) {
        if (reads[i].time && reads[i].thread != t->self.thread
            && !is_ordered(&reads[i], t->self.thread))
            continue;
        uint32_t mask = reads[i].thread == t->self.thread ? reads[i].mask : 0;
        if (!reads[i].time) mask = 0;
        reads[i] = t->self;
        reads[i].mask |= mask & 15;
        return;
    }
    if (is_far(reads[0].thread, t->self.thread)) reads[1] = t->self;
}

/* An atomic: the thread's plain read before it was its beginning. */
static void excuse_reads(emu_cell *cell, const touch *t)
{
    for (int i = 0; i < 2; i++)
        if (cell->reads[i].thread == t->self.thread) cell->reads[i].atomic = 1;
    if (suspect.is_open && suspect.what.address == t->at
        && suspect.what.second.thread == t->self.thread)
        suspect.is_open = false;
}

static void publish(emu_cell *cell, const touch *t)
{
    if (t->writes) raise_to(&cell->published, order.fence[t->self.thread]);
    if (t->access->kind & EMU_READ) raise_to(&order.seen[order.block], cell->published);
}

static void touch_cell(emu_cell *cell, const touch *t)
{
    if (t->self.atomic) {
        excuse_reads(cell, t);
        publish(cell, t);
    }
    if (!t->writes) {
        check_read(t, cell);
        add_read(cell, t);
        return;
    }
    check_write(t, cell);
    cell->write = t->self;
    if (t->self.mask == 15) cell->reads[0].time = cell->reads[1].time = 0;
}

void emu_races_touch(emu_cell *cells, size_t offset, const emu_access_of *access)
{
    const uint32_t thread = order.first + emu_current_thread();
    const int atomics = access->shared ? EMU_ATOMIC : EMU_ATOMIC | EMU_VOLATILE;
    touch t = { .access = access, .writes = access->kind & EMU_WRITE, .shared = access->shared };
    const size_t end = offset + access->bytes;
    if (!order.on) return;
    if (suspect.is_open && suspect.what.second.thread != thread) settle_suspect();
    t.self.time = order.now & LAST_TIME;
    t.self.atomic = (access->kind & atomics) != 0;
    t.self.thread = thread & (EMU_MOST_RACING - 1);
    t.self.site = find_site(access->pc) & (MOST_SITES - 1);
    for (size_t at = offset / CELL * CELL; at < end; at += CELL) {
        const size_t from = offset > at ? offset - at : 0;
        const size_t to = end - at < CELL ? end - at : CELL;
        t.at = access->address + (at + from - offset);
        t.self.mask = (15u << from & 15u >> (CELL - to)) & 15;
        touch_cell(&cells[at / CELL], &t);
    }
}

/* ---- beginning ---- */

bool emu_races_begin(const emu_run *run, const char *the_code, size_t bytes)
{
    const uint32_t *size = run->call->block;
    const uint32_t threads = size[0] * size[1] * size[2], warps = (threads + LANES - 1) / LANES;
    const size_t blocks = (size_t)run->blocks, all = blocks * threads;
    if (all > EMU_MOST_RACING) return false;
    code = the_code;
    code_bytes = bytes;
    order.now = 1;
    order.threads = threads;
    order.warps = warps;
    order.barrier = calloc(blocks, sizeof *order.barrier);
    order.seen = calloc(blocks, sizeof *order.seen);
    order.fenced_block = calloc(blocks, sizeof *order.fenced_block);
    order.warp = calloc(blocks * warps, sizeof *order.warp);
    order.fenced_warp = calloc(blocks * warps, sizeof *order.fenced_warp);
    order.fence = calloc(all, sizeof *order.fence);
    order.lanes = calloc(all, sizeof *order.lanes);
    site_of = calloc(bytes + 1, sizeof *site_of);
    order.on = order.barrier && order.seen && order.fenced_block && order.warp && order.fenced_warp
               && order.fence && order.lanes && site_of;
    return order.on;
}
