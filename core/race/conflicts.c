/* conflicts.c - checks an access against the history of its bytes, and adds it there. */
#include <stdlib.h>

#include "../device.h"
#include "state.h"

static sl__race_memory *memory_of(sl__checker *checker, sl_buffer *buffer)
{
    sl__race_memory *memory = buffer->race;
    if (memory) return memory;
    memory = sl__memory_new(buffer);
    if (!memory) return NULL;
    SL__PUSH(checker->memories, memory, next, link);
    buffer->race = memory;
    return memory;
}

void sl__touch_forget(sl__race_memory *memory)
{
    SL__UNLINK(memory, next, link);
    memory->buffer->race = NULL;
    sl__memory_free(memory);
}

void sl__race_buffer_closed(sl_buffer *buffer)
{
    if (buffer->race) sl__touch_forget(buffer->race);
}

sl__touch sl__touch_of(sl__checker *checker, const sl_operand *operand, const sl__actor *actor)
{
    const sl_race_access_kind kind = operand->access == SL_ATOMIC  ? SL_ACCESS_ATOMIC
                                     : operand->access == SL_READS ? SL_ACCESS_READ
                                                                   : SL_ACCESS_WRITE;
    return (sl__touch){
        .checker = checker,
        .buffer = operand->buffer,
        .actor = actor,
        .access = { .epoch = actor->point.epoch,
                    .slot = actor->point.slot,
                    .kind = (uint8_t)kind,
                    .first = operand->offset,
                    .end = operand->offset + operand->bytes },
    };
}

sl__touch sl__touch_of_all(sl__checker *checker, sl_buffer *buffer, sl_race_access_kind kind,
                           const sl__actor *actor)
{
    const sl_operand all = { .buffer = buffer, .bytes = buffer->bytes };
    sl__touch t = sl__touch_of(checker, &all, actor);
    t.access.kind = (uint8_t)kind;
    return t;
}

/* Whether the access has not been met in another range. */
static bool meets_first(sl__touch *t, const sl__access *earlier)
{
    for (int i = 0; i < t->n_met; i++)
        if (t->met[i].slot == earlier->slot && t->met[i].epoch == earlier->epoch
            && t->met[i].kind == earlier->kind && t->met[i].where == earlier->where)
            return false;
    if (t->n_met < SL__MOST_MET)
        t->met[t->n_met++] = (struct sl__met){ earlier->slot, earlier->where, earlier->epoch,
                                               earlier->kind };
    return true;
}

/* Whether the script made the access after it had enqueued the function that now runs. */
static bool is_swapped(const sl__access *earlier, const sl__actor *actor)
{
    return actor->is_late && earlier->standing
           && earlier->standing->point.host_epoch > actor->point.host_epoch;
}

/* The launch of a graph has in fact read pageable memory before the call returned, and nothing says
 * so. */
static bool is_read_by_then(const sl__touch *t, const sl__access *earlier)
{
    return earlier->is_staged && earlier->launch != t->access.launch && !t->actor->is_late;
}

static void meet(void *ud, const sl__access *earlier)
{
    sl__touch *t = ud;
    sl__checker *checker = t->checker;
    sl__order order = sl__order_of(earlier, t->actor);
    bool swapped = is_swapped(earlier, t->actor);
    if (order == SL__UNORDERED && is_read_by_then(t, earlier)) order = SL__BY_ACCIDENT;
    if (checker->needs.are_kept) sl__needs_add(&checker->needs, &t->access, earlier);
    if (order == SL__ORDERED || !meets_first(t, earlier)) return;
    sl__conflict conflict = {
        .kind = order == SL__BY_ACCIDENT || t->frees_by_waiting ? SL_RACE_ACCIDENT
                                                                : SL_RACE_UNORDERED,
        .buffer = t->buffer,
        .from = sl__max(earlier->first, t->access.first),
        .to = sl__min(earlier->end, t->access.end),
        .first = swapped ? &t->access : earlier,
        .second = swapped ? earlier : &t->access,
    };
    if (checker->mode == SL_CHECK_ERROR && conflict.kind == SL_RACE_UNORDERED && !t->has_happened) {
        conflict.refused = &t->access;
        t->is_refused = true;
    }
    sl__races_add(checker, &conflict);
}

/* A node that names memory which has been freed since its capture. */
static void use_freed(sl__touch *t)
{
    sl__conflict conflict = {
        .kind = SL_RACE_AFTER_FREE,
        .buffer = t->buffer,
        .from = t->access.first,
        .to = t->access.end,
        .first = &t->buffer->race->freed,
        .second = &t->access,
    };
    if (t->checker->mode == SL_CHECK_ERROR) {
        conflict.refused = &t->access;
        t->is_refused = true;
    }
    sl__races_add(t->checker, &conflict);
}

void sl__touch_check(sl__touch *t)
{
    if (t->buffer->race && sl__access_is_there(&t->buffer->race->freed)) {
        use_freed(t);
        return;
    }
    if (t->buffer->race && t->access.first < t->access.end)
        sl__memory_meet(t->buffer->race, &t->access, t->access.first, t->access.end,
                        t->actor->is_late, meet, t);
}

/* Keeps what comes before the accesses of an actor while a host function waits to run, which will
 * be compared with them. */
static bool stand(sl__checker *checker, const sl__actor *actor, sl__standing **standing)
{
    *standing = NULL;
    if (checker->n_waiting == 0) return true;
    *standing = malloc(sizeof **standing);
    if (!*standing) return false;
    (*standing)->refs = 1;
    (*standing)->point = actor->point;
    sl__seen_retain(actor->point.seen);
    return true;
}

bool sl__touch_note(sl__touch *t)
{
    sl__checker *checker = t->checker;
    bool keep = checker->n_waiting > 0, done;
    if (t->access.first >= t->access.end) return true;
    sl__race_memory *memory = memory_of(checker, t->buffer);
    if (!memory || !stand(checker, t->actor, &t->access.standing)) return false;
    done = sl__memory_note(memory, &t->access, t->access.first, t->access.end,
                           t->actor->point.seen.sure, keep,
                           checker->threads ? NULL : checker->host.seen.sure);
    sl__standing_release(t->access.standing);
    return done;
}

bool sl__touch_freed(sl__touch *t)
{
    sl__race_memory *memory = memory_of(t->checker, t->buffer);
    if (!memory) return false;
    sl__access_drop(&memory->freed);
    sl__access_put(&memory->freed, &t->access);
    return true;
}
