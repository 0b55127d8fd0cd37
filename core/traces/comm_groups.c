/* comm_groups.c - the communicators of a timeline, and which parts of its ranks belong together. */
#include "comm_groups.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../timeline/store.h"

static sl_status no_memory(sl_error *err)
{
    return sl__no_memory(err, "the communicators of a timeline");
}

/* ---- communicators --------------------------------------------------------------- */

/* As the GPUs are numbered: places are not in that order. */
static bool rank_places(const sl_timeline *timeline, sl__comm_groups *groups)
{
    int n = sl_timeline_device_count(timeline);
    groups->rank_of = calloc((size_t)n, sizeof *groups->rank_of);
    for (int place = 0; groups->rank_of && place < n; place++)
        for (int other = 0; other < n; other++)
            groups->rank_of[place] += sl_timeline_device_at(timeline, other)->index
                                      < sl_timeline_device_at(timeline, place)->index;
    return groups->rank_of != NULL;
}

static sl__comm_group *find_group(const sl__comm_groups *groups, const sl_collective_note *note)
{
    size_t i = 0;
    while (i < groups->n && groups->at[i].comm != note->comm)
        i++;
    return i < groups->n ? &groups->at[i] : NULL;
}

const sl__comm_group *sl__comm_group_of(const sl__comm_groups *groups,
                                        const sl_collective_note *note)
{
    return find_group(groups, note);
}

/* Its ranks are not known yet. */
static sl__comm_group *add_group(sl__comm_groups *groups, const sl_collective_note *note)
{
    if (!SL__GROW(groups->at, groups->cap, groups->n + 1)) return NULL;
    int *ranks = malloc((size_t)note->ranks * sizeof *ranks);
    if (!ranks) return NULL;
    for (int i = 0; i < note->ranks; i++)
        ranks[i] = -1;
    groups->at[groups->n] = (sl__comm_group){ note->comm, note->ranks, ranks };
    return &groups->at[groups->n++];
}

static sl_status fail_ranks(const sl_collective_note *note, int known, const char *what,
                            sl_error *err)
{
    return sl_fail(err, SL_EUNSUPPORTED,
                   "a %s file has all ranks of a program: communicator %" PRIu64
                   " has %d, the timeline has %d",
                   what, note->comm, (int)note->ranks, known);
}

static int count_known(const sl__comm_group *group)
{
    int n = 0;
    for (int i = 0; i < group->n; i++)
        n += group->ranks[i] >= 0;
    return n;
}

static sl_status place_rank(const sl_timeline *timeline, sl__comm_groups *groups,
                            const sl_span *span, const char *what, sl_error *err)
{
    const sl_collective_note *note = sl_timeline_find_collective(timeline, span->correlation);
    int n_devices = sl_timeline_device_count(timeline);
    if (!note) return SL_OK;
    if (note->ranks > n_devices) return fail_ranks(note, n_devices, what, err);
    sl__comm_group *group = find_group(groups, note);
    if (!group) group = add_group(groups, note);
    if (!group) return no_memory(err);
    if (note->ranks != group->n) return fail_ranks(note, group->n, what, err);
    group->ranks[note->rank] = groups->rank_of[sl_timeline_place(timeline, span->stream)];
    return SL_OK;
}

/* Each communicator's ranks are all there. */
static sl_status check_ranks(const sl_timeline *timeline, const sl__comm_groups *groups,
                             const sl_span *span, const char *what, sl_error *err)
{
    const sl_collective_note *note = sl_timeline_find_collective(timeline, span->correlation);
    int known = note ? count_known(sl__comm_group_of(groups, note)) : 0;
    return note && known < note->ranks ? fail_ranks(note, known, what, err) : SL_OK;
}

sl_status sl__comm_groups_find(const sl_timeline *timeline, const char *what,
                               sl__comm_groups *groups, sl_error *err)
{
    const size_t n = sl_timeline_span_count(timeline);
    sl_status status = rank_places(timeline, groups) ? SL_OK : no_memory(err);
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        status = place_rank(timeline, groups, &span, what, err);
    }
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        status = check_ranks(timeline, groups, &span, what, err);
    }
    return status;
}

void sl__comm_groups_free(sl__comm_groups *groups)
{
    for (size_t i = 0; i < groups->n; i++)
        free(groups->at[i].ranks);
    free(groups->at);
    free(groups->open);
    free(groups->rank_of);
}

/* ---- meetings ----------------------------------------------------------------------- */

static bool is_between_two(const sl_collective_note *note)
{
    return note->collective == SL_SEND || note->collective == SL_RECV;
}

/* Of a send and a receive each is the other's peer. */
static bool belong_together(const sl_collective_note *a, const sl_collective_note *b)
{
    if (a->comm != b->comm || a->number != b->number) return false;
    if (!is_between_two(a)) return a->collective == b->collective;
    return is_between_two(b) && a->collective != b->collective && a->peer == b->rank
           && a->rank == b->peer;
}

sl_status sl__comm_groups_tag(sl__comm_groups *groups, const sl_collective_note *note,
                              uint32_t *tag, sl_error *err)
{
    size_t i = 0;
    while (i < groups->n_open && !belong_together(groups->open[i].first, note))
        i++;
    if (i == groups->n_open) {
        if (!SL__GROW(groups->open, groups->cap_open, i + 1)) return no_memory(err);
        groups->open[groups->n_open++] = (sl__meeting){ note,
                                                        is_between_two(note) ? 2 : note->ranks,
                                                        ++groups->last_tag };
    }
    *tag = groups->open[i].tag;
    if (--groups->open[i].missing == 0) groups->open[i] = groups->open[--groups->n_open];
    return SL_OK;
}

sl_status sl__comm_groups_check(const sl__comm_groups *groups, const char *what, sl_error *err)
{
    if (groups->n_open == 0) return SL_OK;
    const sl__meeting *meeting = &groups->open[0];
    return sl_fail(err, SL_EUNSUPPORTED,
                   "a %s file has whole collectives; of %s %" PRIu64 " of communicator %" PRIu64
                   " the timeline lacks %d rank%s",
                   what, sl_collective_name((sl_collective)meeting->first->collective),
                   meeting->first->number, meeting->first->comm, meeting->missing,
                   meeting->missing == 1 ? "" : "s");
}
