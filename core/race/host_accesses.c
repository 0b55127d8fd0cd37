/* host_accesses.c - reads, writes and frees by the host, itself or in a host function. */
#include "../device.h"
#include "state.h"

/* ---- the host's accesses --------------------------------------------------------- */

/* A host function that was enqueued before the checker was on: what comes before it is unknown. */
static bool is_unknown(sl__checker *checker)
{
    return sl__host_func_depth > 0 && !checker->running;
}

static sl__actor actor_now(sl__checker *checker)
{
    if (!checker->running) return sl__order_host(checker);
    return (sl__actor){ .point = checker->running->point, .is_late = true };
}

static void describe(sl__touch *t, const char *what)
{
    sl__checker *checker = t->checker;
    sl_device *device = t->buffer->device;
    bool late = t->actor->is_late;
    t->access.by = late ? SL__BY_HOST_FUNC : SL__BY_HOST;
    t->access.seq = late ? checker->running->seq : 0;
    t->access.launch = late ? checker->running->launch : NULL;
    t->access.what = sl__race_text(checker, what);
    t->access.where = sl__race_where(checker, device);
    t->access.host_ns = device->backend->host_now_ns(device);
}

/* Checks what one call of the host touches, and notes it if a later access may race with it: what
 * the host enqueues later comes after it, but a waiting host function may not. */
static sl_status touch_by_host(sl__touch *list, int n, const char *const *what, sl_error *err)
{
    sl__checker *checker = list[0].checker;
    bool is_refused = false, done = true;
    for (int i = 0; i < n; i++) {
        describe(&list[i], what[i]);
        sl__touch_check(&list[i]);
        is_refused |= list[i].is_refused;
    }
    done = !checker->starved;
    if (done && is_refused) return sl__races_fail(checker, err);
    for (int i = 0; i < n && done; i++)
        if (list[i].actor->is_late || checker->n_waiting > 0 || checker->threads)
            done = sl__touch_note(&list[i]);
    if (!done) checker->starved = true;
    return SL_OK;
}

enum { MOST_ACCESSES = 2 }; /* of one call */

sl_status sl__race_access(const sl_operand *list, int n, sl_error *err)
{
    sl__checker *checker = sl__race;
    const sl__actor actor = actor_now(checker);
    const char *what[MOST_ACCESSES];
    sl__touch touches[MOST_ACCESSES];
    if (is_unknown(checker) || checker->starved) return SL_OK;
    for (int i = 0; i < n; i++) {
        what[i] = list[i].access == SL_WRITES ? "write" : "read";
        touches[i] = sl__touch_of(checker, &list[i], &actor);
    }
    return touch_by_host(touches, n, what, err);
}

void sl__race_freed(sl__checker *checker, sl_buffer *buffer, const char *what, bool waited)
{
    const sl__actor actor = sl__order_host(checker);
    sl__touch t = sl__touch_of_all(checker, buffer, SL_ACCESS_FREE, &actor);
    t.has_happened = true;
    t.frees_by_waiting = waited;
    (void)touch_by_host(&t, 1, &what, NULL); /* nothing can refuse it */
}

/* A graph may still name the memory: what its later launches do to it comes after the free. */
void sl__race_is_freed(sl__checker *checker, sl_buffer *buffer, const char *what)
{
    sl_device *device = buffer->device;
    const sl__actor actor = sl__order_host(checker);
    sl__touch t = sl__touch_of_all(checker, buffer, SL_ACCESS_FREE, &actor);
    if (!device->core->graphs && buffer->place == SL_ON_DEVICE) return;
    describe(&t, what);
    if (!sl__touch_freed(&t)) checker->starved = true;
}
