/* outcomes.c - whether races did harm on a simulated GPU: in which order their accesses ran. */
#include "../device.h"
#include "state.h"

typedef sl__unsettled unsettled;

static sl__access_time time_of(sl__checker *checker, const sl__access *access)
{
    sl__access_time when = {
        .state = SL__KNOWN,
        .slot = access->slot,
        .epoch = access->epoch,
        .seq = access->seq,
        .at_ns = access->host_ns,
    };
    if (access->by != SL__BY_STREAM && access->host_ns >= 0) return when;
    if (access->seq == 0)
        when.state = SL__NEVER;
    else
        when.state = checker->slots[access->slot].retired >= access->seq ? SL__PAST : SL__PENDING;
    return when;
}

/* An operation that begins when a write ends reads the new value. */
static sl_race_outcome compare(const unsettled *u)
{
    bool swapped = u->second.at_ns < u->first.at_ns
                   || (u->second.at_ns == u->first.at_ns && !u->first_writes);
    return swapped ? SL_RACE_STALE : SL_RACE_HELD;
}

static void set_outcome(sl__checker *checker, sl__found *entry, sl_race_outcome outcome)
{
    if (entry->race.outcome != SL_RACE_STALE && outcome != SL_RACE_UNKNOWN)
        entry->race.outcome = outcome;
    if (!entry->reported) checker->has_unreported = true;
}

/* True: the outcome is known, or never will be. The check is made when the later access is
 * enqueued, so an access that had ended by then came first. */
static bool settle(sl__checker *checker, const unsettled *u)
{
    if (u->first.state == SL__NEVER || u->second.state == SL__NEVER)
        set_outcome(checker, u->entry, SL_RACE_UNKNOWN);
    else if (u->first.state == SL__PAST || u->second.state == SL__PAST)
        set_outcome(checker, u->entry, u->first.state == SL__PAST ? SL_RACE_HELD : SL_RACE_STALE);
    else if (u->first.state == SL__KNOWN && u->second.state == SL__KNOWN)
        set_outcome(checker, u->entry, compare(u));
    else
        return false;
    return true;
}

static void remove_unsettled(sl__checker *checker, size_t i)
{
    checker->races.unsettled[i].entry->unsettled--;
    checker->races.unsettled[i] = checker->races.unsettled[--checker->races.n_unsettled];
}

void sl__outcome_follow(sl__checker *checker, sl__found *entry, const sl__conflict *conflict)
{
    unsettled u = {
        .entry = entry,
        .first = time_of(checker, conflict->first),
        .second = time_of(checker, conflict->second),
        .first_writes = conflict->first->kind != SL_ACCESS_READ,
        .second_writes = conflict->second->kind != SL_ACCESS_READ,
    };
    if (conflict->kind == SL_RACE_AFTER_FREE) return; /* it went wrong, whenever that was */
    if (!conflict->buffer->device->info.times_at_once || settle(checker, &u)
        || checker->races.n_unsettled == SL__MOST_UNSETTLED)
        return;
    checker->races.unsettled[checker->races.n_unsettled++] = u;
    entry->unsettled++;
}

void sl__outcomes_forget(sl__checker *checker)
{
    while (checker->races.n_unsettled > 0)
        remove_unsettled(checker, checker->races.n_unsettled - 1);
}

static void note_time(const sl__checker *checker, sl__access_time *when, const sl_op *op,
                      bool writes)
{
    if (when->state != SL__PENDING || when->seq != op->seq
        || checker->slots[when->slot].device != op->stream->device)
        return;
    when->state = op->lost ? SL__NEVER : SL__KNOWN;
    when->at_ns = writes ? op->end_ns : op->start_ns;
}

void sl__races_retired(sl__checker *checker, const sl_op *op)
{
    for (size_t i = checker->races.n_unsettled; i-- > 0;) {
        unsettled *u = &checker->races.unsettled[i];
        note_time(checker, &u->first, op, u->first_writes);
        note_time(checker, &u->second, op, u->second_writes);
        if (settle(checker, u)) remove_unsettled(checker, i);
    }
}

void sl__races_lost(sl__checker *checker, uint32_t slot)
{
    for (size_t i = checker->races.n_unsettled; i-- > 0;)
        if (checker->races.unsettled[i].first.slot == slot
            || checker->races.unsettled[i].second.slot == slot)
            remove_unsettled(checker, i);
    checker->has_unreported = true;
}

/* The entry stays: these lines of the script race. */
void sl__races_cancelled(sl__checker *checker, uint32_t slot, uint64_t epoch)
{
    for (size_t i = checker->races.n_unsettled; i-- > 0;)
        if (checker->races.unsettled[i].second.slot == slot
            && checker->races.unsettled[i].second.epoch == epoch)
            remove_unsettled(checker, i);
    checker->has_unreported = true;
}
