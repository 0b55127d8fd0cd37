/* warps.c - what lanes of a warp do together: each waits until the others of its mask are there. */
#include "waiting.h"

#include "checks.h"
#include "report.h"

static unsigned bit(unsigned lane) { return 1u << lane; }

static unsigned first_of_warp(unsigned thread) { return thread / EMU_LANES * EMU_LANES; }

static emu_waiter *lane_of(unsigned first, unsigned lane)
{
    return first + lane < emu_now.n_threads ? emu_now.block->waiting[first + lane] : NULL;
}

/* The lanes that wait with the same mask as `one`; without a mask, in the same line. */
static unsigned lanes_beside(const emu_waiter *one)
{
    const unsigned first = first_of_warp(one->thread);
    unsigned lanes = 0;
    for (unsigned i = 0; i < EMU_LANES; i++) {
        const emu_waiter *other = lane_of(first, i);
        if (!other || other->waits != EMU_AT_WARP || other->mask != one->mask) continue;
        if (one->op == EMU_WARP_ACTIVE && other->line != one->line) continue;
        lanes |= bit(i);
    }
    return lanes;
}

/* Lanes that the block does not have; and if nobody can go on, those that have ended. */
static unsigned lanes_gone(const emu_waiter *one, bool idle)
{
    const unsigned first = first_of_warp(one->thread);
    unsigned lanes = 0;
    for (unsigned i = 0; i < EMU_LANES; i++)
        if (first + i >= emu_now.n_threads || (idle && !emu_now.block->waiting[first + i]))
            lanes |= bit(i);
    return lanes;
}

const char *emu_op_name(const emu_waiter *one)
{
    if (one->values) return "a reduction of the warp";
    switch (one->op) {
    case EMU_WARP_SYNC: return "__syncwarp";
    case EMU_WARP_SHUFFLE: return "a shuffle";
    case EMU_WARP_BALLOT: return "a vote";
    case EMU_WARP_MATCH: return "a match";
    default: return "__activemask";
    }
}

static void check_same(const emu_waiter *one, const emu_waiter *other)
{
    char a[48], b[48];
    if (one->op == other->op && !one->values == !other->values) return;
    emu_fail(other->line,
             "%s of block (%u,%u,%u) is in %s, and %s of the same warp and mask in %s in line %d",
             emu_thread_text(other->thread, a), emu_now.block->index[0], emu_now.block->index[1],
             emu_now.block->index[2], emu_op_name(other), emu_thread_text(one->thread, b),
             emu_op_name(one), one->line);
}

static uint64_t shuffled(const emu_waiter *one, unsigned lanes)
{
    const unsigned first = first_of_warp(one->thread), lane = (unsigned)one->lane % EMU_LANES;
    const emu_waiter *source = lane_of(first, lane);
    char text[48];
    if (lanes & bit(lane)) return source->value;
    emu_fail(one->line,
             "%s of block (%u,%u,%u) shuffles a value from lane %u of its warp, which %s",
             emu_thread_text(one->thread, text), emu_now.block->index[0], emu_now.block->index[1],
             emu_now.block->index[2], lane,
             first + lane >= emu_now.n_threads ? "the block does not have"
             : !(one->mask & bit(lane))        ? "is not in the mask"
                                               : "has ended");
}

static uint64_t voted(const emu_waiter *one, unsigned lanes, bool match)
{
    const unsigned first = first_of_warp(one->thread);
    uint64_t result = 0;
    for (unsigned i = 0; i < EMU_LANES; i++)
        if ((lanes & bit(i))
            && (match ? lane_of(first, i)->value == one->value : lane_of(first, i)->value != 0))
            result |= bit(i);
    return result;
}

static void gather_into(const emu_waiter *one, unsigned lanes)
{
    const unsigned first = first_of_warp(one->thread);
    for (unsigned i = 0; i < EMU_LANES; i++)
        one->values[i] = lanes & bit(i) ? lane_of(first, i)->value : 0;
}

static uint64_t result_of(const emu_waiter *one, unsigned lanes)
{
    if (one->values) gather_into(one, lanes);
    switch (one->op) {
    case EMU_WARP_SHUFFLE: return shuffled(one, lanes);
    case EMU_WARP_BALLOT: return voted(one, lanes, false);
    case EMU_WARP_MATCH: return voted(one, lanes, true);
    case EMU_WARP_ACTIVE: return lanes;
    default: return 0;
    }
}

/* All of the lanes are there. */
static void release_lanes(const emu_waiter *one, unsigned lanes)
{
    const unsigned first = first_of_warp(one->thread);
    for (unsigned i = 0; i < EMU_LANES; i++)
        if (lanes & bit(i)) check_same(one, lane_of(first, i));
    if (one->op != EMU_WARP_ACTIVE) emu_checks_warp(first / EMU_LANES, lanes);
    for (unsigned i = 0; i < EMU_LANES; i++)
        if (lanes & bit(i)) lane_of(first, i)->result = result_of(lane_of(first, i), lanes);
    for (unsigned i = 0; i < EMU_LANES; i++)
        if (lanes & bit(i)) emu_make_ready(lane_of(first, i));
}

/* If the lanes that `one` waits for are there or gone. Who is active is known when nobody else can
 * go on. */
static bool open_warp(const emu_waiter *one, bool idle)
{
    const unsigned lanes = lanes_beside(one);
    if (one->op == EMU_WARP_ACTIVE && !idle) return false;
    if (one->op != EMU_WARP_ACTIVE && (one->mask & ~lanes_gone(one, idle)) != lanes) return false;
    release_lanes(one, lanes);
    return true;
}

bool emu_open_any_warp(void)
{
    for (unsigned i = 0; i < emu_now.n_threads; i++)
        if (emu_now.block->waiting[i] && emu_now.block->waiting[i]->waits == EMU_AT_WARP
            && open_warp(emu_now.block->waiting[i], true))
            return true;
    return false;
}

static void meet_lanes(emu_waiter *self, int line)
{
    char text[48];
    emu_begin_waiting(EMU_AT_WARP, line);
    if (self->op != EMU_WARP_ACTIVE && !(self->mask & bit(self->thread % EMU_LANES)))
        emu_fail(
            line, "%s of block (%u,%u,%u) is lane %u of its warp, which is not in its mask 0x%x",
            emu_thread_text(self->thread, text), emu_now.block->index[0], emu_now.block->index[1],
            emu_now.block->index[2], self->thread % EMU_LANES, self->mask);
    open_warp(self, false);
    emu_wait();
}

unsigned long long emu_warp_meets(int op, unsigned mask, unsigned long long value, int lane,
                                  int line)
{
    emu_waiter *self = emu_now.running;
    self->op = op;
    self->mask = op == EMU_WARP_ACTIVE ? 0 : mask;
    self->value = value;
    self->lane = lane;
    self->values = NULL;
    meet_lanes(self, line);
    return self->result;
}

void emu_warp_gathers(unsigned mask, unsigned long long value, unsigned long long values[32],
                      int line)
{
    emu_waiter *self = emu_now.running;
    self->op = EMU_WARP_SYNC;
    self->mask = mask;
    self->value = value;
    self->values = values;
    meet_lanes(self, line);
}
