/* meeting.c - sides of collectives, counted and compared. Of the meetings that not all sides have
 * called, or that a group has not enqueued yet, there may be as many as there are calls. */
#include "meeting.h"

#include <stdlib.h>
#include <string.h>

#include "../device.h"
#include "../observers.h"
#include "request.h"

/* ---- which meeting ---- */

typedef struct ends {
    int32_t from, to; /* of a send and its recv; -1: a collective of all ranks */
} ends;

static ends ends_of(const sl__request *request)
{
    const sl_work *work = &request->work;
    int32_t own = request->comm->rank, peer = (int32_t)work->peer;
    if (!sl__is_pair(work)) return (ends){ -1, -1 };
    return work->collective == SL_SEND ? (ends){ own, peer } : (ends){ peer, own };
}

static sl__table *table_of(const sl_comm_ranks *all)
{
    return &all->rank[0]->device->core->meetings;
}

static uint64_t key_of(const sl_comm_ranks *all, uint64_t number, ends at)
{
    return sl__table_key(all, number, (uint64_t)(uint32_t)at.from << 32 | (uint32_t)at.to);
}

static bool is_of(const sl_meeting *meeting, const sl__request *request)
{
    ends at = ends_of(request);
    return meeting->all == request->comm->all && meeting->number == request->work.number
           && meeting->from == at.from && meeting->to == at.to;
}

static sl_meeting *find(const sl__request *request)
{
    const sl_comm_ranks *all = request->comm->all;
    uint64_t key = key_of(all, request->work.number, ends_of(request));
    sl__entry *entry = sl__table_find(table_of(all), key);
    while (entry && !is_of((sl_meeting *)entry, request))
        entry = sl__table_next(entry);
    return (sl_meeting *)entry;
}

static bool link_meeting(sl_comm_ranks *all, sl_meeting *meeting)
{
    uint64_t key = key_of(all, meeting->number, (ends){ meeting->from, meeting->to });
    if (!sl__table_add(table_of(all), &meeting->entry, key)) return false;
    SL__PUSH(all->meetings, meeting, next, link);
    return true;
}

/* How many sides this process has. Its ranks have numbers without gaps. */
static int32_t sides(const sl__request *request)
{
    const sl_comm_ranks *all = request->comm->all;
    const int64_t peer = request->work.peer - all->rank[0]->rank;
    if (!sl__is_pair(&request->work)) return all->n;
    return peer >= 0 && peer < all->n ? 2 : 1;
}

static sl_meeting *add(const sl__request *request)
{
    const sl_work *work = &request->work;
    sl_meeting *meeting = calloc(1, request->comm->device->backend->meeting_bytes);
    ends at = ends_of(request);
    if (!meeting) return NULL;
    *meeting = (sl_meeting){
        .refs = 1,
        .all = request->comm->all,
        .number = work->number,
        .from = at.from,
        .to = at.to,
        .sides = sides(request),
        .collective = work->collective,
        .reduction = work->reduction,
        .dtype = work->dtype,
        .rank = request->comm->rank,
        .count = sl__collective_count(work),
        .root = work->peer,
        .named_by = request->name ? request->comm : NULL,
        .name = request->name,
    };
    if (link_meeting(request->comm->all, meeting)) return meeting;
    free(meeting);
    return NULL;
}

void sl__meeting_release(sl_meeting *meeting)
{
    if (--meeting->refs == 0) free(meeting);
}

static void close_meeting(sl_meeting *meeting)
{
    sl__table_remove(table_of(meeting->all), &meeting->entry);
    SL__UNLINK(meeting, next, link);
    if (meeting->race) sl__tell(meeting_closed, meeting);
    sl__meeting_release(meeting);
}

void sl__meetings_close(sl_comm_ranks *all)
{
    while (all->meetings)
        close_meeting(all->meetings);
}

/* ---- whether two sides fit ---- */

static sl_status other_collective(const sl_meeting *meeting, const sl__request *request,
                                  sl_error *err)
{
    return sl_fail(err, SL_EINVAL,
                   "call %llu of rank %d is %s, and of rank %d %s: all ranks call the same "
                   "collectives in the same order",
                   (unsigned long long)meeting->number, request->comm->rank,
                   sl_collective_name((sl_collective)request->work.collective), meeting->rank,
                   sl_collective_name((sl_collective)meeting->collective));
}

static sl_status other_arguments(const sl_meeting *meeting, const sl__request *request,
                                 sl_error *err)
{
    const sl_work *work = &request->work;
    if (work->collective == SL_BROADCAST && work->peer != meeting->root)
        return sl_fail(err, SL_EINVAL, "rank %d gives %lld as root, and rank %d %lld",
                       request->comm->rank, (long long)work->peer, meeting->rank,
                       (long long)meeting->root);
    if ((work->collective == SL_ALL_REDUCE || work->collective == SL_REDUCE_SCATTER)
        && work->reduction != meeting->reduction)
        return sl_fail(err, SL_EINVAL, "rank %d gives \"%s\" as op, and rank %d \"%s\"",
                       request->comm->rank, sl_reduction_name((sl_reduction)work->reduction),
                       meeting->rank, sl_reduction_name((sl_reduction)meeting->reduction));
    return SL_OK;
}

/* Nothing else tells two collectives apart whose kinds, sizes and dtypes are the same. */
static sl_status compare_names(sl_meeting *meeting, const sl__request *request, sl_error *err)
{
    if (!request->name) return SL_OK;
    if (!meeting->named_by) {
        meeting->named_by = request->comm;
        meeting->name = request->name;
        return SL_OK;
    }
    const char *name = sl_device_text(request->comm->device, request->name);
    const char *other = sl_device_text(meeting->named_by->device, meeting->name);
    if (strcmp(name, other) == 0) return SL_OK;
    return sl_fail(
        err, SL_EINVAL,
        "call %llu of rank %d is \"%.60s\", and of rank %d \"%.60s\": all ranks call the "
        "same collectives in the same order",
        (unsigned long long)meeting->number, request->comm->rank, name, meeting->named_by->rank,
        other);
}

static sl_status compare(sl_meeting *meeting, const sl__request *request, sl_error *err)
{
    const sl_work *work = &request->work;
    if (!sl__is_pair(work) && work->collective != meeting->collective)
        return other_collective(meeting, request, err);
    sl_status status = other_arguments(meeting, request, err);
    if (status != SL_OK) return status;
    if (work->dtype != meeting->dtype) {
        sl_fail(err, SL_EDTYPE, "rank %d's tensor is %s, and rank %d's %s", request->comm->rank,
                sl_dtype_name((sl_dtype)work->dtype), meeting->rank,
                sl_dtype_name((sl_dtype)meeting->dtype));
        return sl_advise(err, SL_EDTYPE, SL_ADVICE_CAST, sl_dtype_name((sl_dtype)meeting->dtype));
    }
    if (sl__collective_count(work) == meeting->count) return compare_names(meeting, request, err);
    return sl_fail(
        err, SL_ESHAPE, "%s of rank %d is for %lld element%s, and %s of rank %d for %lld",
        sl_collective_name((sl_collective)work->collective), request->comm->rank,
        (long long)sl__collective_count(work), sl__collective_count(work) == 1 ? "" : "s",
        sl_collective_name((sl_collective)meeting->collective), meeting->rank,
        (long long)meeting->count);
}

/* ---- sides ---- */

static uint64_t *counter(const sl__request *request)
{
    sl_comm *comm = request->comm;
    const sl_work *work = &request->work;
    if (!sl__is_pair(work)) return &comm->calls;
    return &comm->sent[(work->collective == SL_RECV ? comm->all->size : 0) + work->peer];
}

sl_status sl__meeting_call(sl__request *request, sl_error *err)
{
    sl_status status = SL_OK;
    request->work.number = *counter(request) + 1;
    sl_meeting *meeting = find(request);
    if (meeting)
        status = compare(meeting, request, err);
    else if (!(meeting = add(request)))
        status = sl__no_memory(err, "a collective");
    if (status != SL_OK) return status;
    meeting->called++;
    request->meeting = meeting;
    ++*counter(request);
    return SL_OK;
}

void sl__meeting_cancel(sl__request *request)
{
    sl_meeting *meeting = request->meeting;
    --*counter(request);
    if (meeting->named_by == request->comm) meeting->named_by = NULL;
    if (--meeting->called == 0) close_meeting(meeting);
}

void sl__meeting_enqueued(sl__request *request)
{
    sl_meeting *meeting = request->meeting;
    if (++meeting->enqueued < meeting->sides) return;
    if (meeting->race) sl__tell(met, meeting);
    close_meeting(meeting);
}

/* ---- who is missing ---- */

static bool has_called(const sl_comm *comm, const sl__request *request)
{
    return comm->calls >= request->work.number;
}

sl_status sl__meeting_is_complete(const sl__request *request, sl_error *err)
{
    const sl_work *work = &request->work;
    const sl_comm_ranks *all = request->comm->all;
    if (request->meeting->called == request->meeting->sides) return SL_OK;
    if (sl__is_pair(work))
        return sl_fail(err, SL_ESTATE,
                       "rank %d %s rank %lld, which has no part in this call: put both into one "
                       "comm:group",
                       request->comm->rank,
                       work->collective == SL_SEND ? "sends to" : "receives from",
                       (long long)work->peer);
    for (int i = 0; i < all->n; i++)
        if (!has_called(all->rank[i], request))
            return sl_fail(err, SL_ESTATE,
                           "rank %d has no part in it: give a tensor for each of the %d ranks, or "
                           "call it for each in one comm:group",
                           all->rank[i]->rank, all->n);
    return SL_OK;
}
