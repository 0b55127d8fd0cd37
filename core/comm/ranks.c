/* ranks.c - communicators: made, freed, held by their operations. All ranks of one process live and
 * go together, as the library's do that connects them. */
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>

#include "../device.h"
#include "meeting.h"

/* ---- memory ---- */

static void deallocate(sl_comm_ranks *all)
{
    sl__meetings_close(all);
    for (int i = 0; i < all->n && all->rank[i]; i++) {
        sl_comm *comm = all->rank[i];
        comm->device->core->stats.comms--;
        sl_device_release(comm->device);
        free(comm->sent);
        free(comm);
    }
    free(all);
}

static sl_comm *new_rank(sl_comm_ranks *all, sl_device *device, int rank)
{
    sl_comm *comm = calloc(1, device->backend->comm_bytes);
    uint64_t *sent = calloc((size_t)all->size * 2, sizeof *sent);
    if (!comm || !sent) {
        free(comm);
        free(sent);
        return NULL;
    }
    comm->device = sl_device_retain(device);
    comm->all = all;
    comm->rank = rank;
    comm->sent = sent;
    comm->where = device->core->where;
    device->core->stats.comms++;
    return comm;
}

/* Ranks from `first` on, one a device. NULL: out of memory. */
static sl_comm_ranks *allocate(sl_device *const *devices, int n, int first, int size,
                               const sl_comm_options *options)
{
    static uint64_t last_id;
    sl_comm_ranks *all = calloc(1, sizeof *all + (size_t)n * sizeof all->rank[0]);
    if (!all) return NULL;
    *all = (sl_comm_ranks){ .refs = n, .size = size, .n = n };
    if (options) all->options = *options;
    for (int i = 0; i < n; i++) {
        all->rank[i] = new_rank(all, devices[i], first + i);
        if (all->rank[i]) continue;
        deallocate(all);
        return NULL;
    }
    all->id = ++last_id;
    return all;
}

/* ---- making ---- */

static sl_status check_devices(sl_device *const *devices, size_t n, sl_error *err)
{
    if (n < 1 || n > SL_MOST_RANKS)
        return sl_fail(err, SL_EINVAL, "%zu devices: a communicator has 1 to %d ranks", n,
                       SL_MOST_RANKS);
    for (size_t i = 0; i < n; i++) {
        sl_status status = sl__device_enter(devices[i], "making a communicator", err);
        if (status != SL_OK) return status;
        if (devices[i]->backend != devices[0]->backend)
            return sl_fail(err, SL_EDEVICE,
                           "rank %zu is a GPU of backend %s, and rank 0 one of %s: they cannot "
                           "talk to one another",
                           i, devices[i]->info.backend, devices[0]->info.backend);
        for (size_t j = 0; j < i; j++)
            if (devices[i] == devices[j])
                return sl_fail(err, SL_EINVAL,
                               "ranks %zu and %zu are one GPU (%s %d): each rank needs a GPU of "
                               "its own",
                               j, i, devices[i]->info.backend, devices[i]->info.index);
    }
    return SL_OK;
}

static sl_status check_backend(const sl_device *device, const sl_comm_options *options,
                               sl_error *err)
{
    if (options && options->channels < 0)
        return sl_fail(err, SL_EINVAL, "channels is %d: it is 1 or more", options->channels);
    if (device->backend->comm_open) return SL_OK;
    return sl_fail(err, SL_EUNSUPPORTED, "GPUs of backend %s have no collectives in this version",
                   device->info.backend);
}

static sl_status open_ranks(sl_device *const *devices, int n, int first, int size,
                            const sl_comm_id *id, const sl_comm_options *options, sl_comm **comms,
                            sl_error *err)
{
    sl_status status = check_backend(devices[0], options, err);
    if (status != SL_OK) return status;
    sl_comm_ranks *all = allocate(devices, n, first, size, options);
    if (!all) return sl__no_memory(err, "a communicator");
    status = devices[0]->backend->comm_open(all, id, err);
    for (int i = 0; i < n && status == SL_OK; i++)
        comms[i] = all->rank[i];
    if (status != SL_OK) deallocate(all);
    return sl__device_leave(devices[0], status, err);
}

sl_status sl_comm_create(sl_device *const *devices, size_t n, const sl_comm_options *options,
                         sl_comm **comms, sl_error *err)
{
    sl_status status = check_devices(devices, n, err);
    if (status != SL_OK) return status;
    return open_ranks(devices, (int)n, 0, (int)n, NULL, options, comms, err);
}

static sl_status check_processes(sl_device *device, sl_error *err)
{
    sl_status status = sl__device_enter(device, "making a communicator", err);
    if (status == SL_OK) status = check_backend(device, NULL, err);
    if (status != SL_OK || device->backend->comm_id) return status;
    return sl_fail(err, SL_EUNSUPPORTED,
                   "simulated GPUs are all in one process, on one clock: give their numbers in "
                   "`devices`");
}

sl_status sl_comm_make_id(sl_device *device, sl_comm_id *id, sl_error *err)
{
    sl_status status = check_processes(device, err);
    return status != SL_OK ? status : device->backend->comm_id(device, id, err);
}

sl_status sl__comm_check_join(sl_device *device, int rank, int size, sl_error *err)
{
    sl_status status = check_processes(device, err);
    if (status != SL_OK) return status;
    if (size < 1 || size > SL_MOST_RANKS)
        return sl_fail(err, SL_EINVAL, "size is %d: a communicator has 1 to %d ranks", size,
                       SL_MOST_RANKS);
    if (rank < 0 || rank >= size)
        return sl_fail(err, SL_EINVAL, "rank is %d: of %d ranks it is 0 to %d", rank, size,
                       size - 1);
    return SL_OK;
}

sl_status sl_comm_join(sl_device *device, int rank, int size, const sl_comm_id *id,
                       const sl_comm_options *options, sl_comm **comm, sl_error *err)
{
    sl_status status = sl__comm_check_join(device, rank, size, err);
    if (status != SL_OK) return status;
    return open_ranks(&device, 1, rank, size, id, options, comm, err);
}

/* ---- the end ---- */

sl_comm *sl_comm_retain(sl_comm *comm)
{
    if (comm) comm->all->refs++;
    return comm;
}

/* Operations in flight hold a reference each. */
void sl_comm_release(sl_comm *comm)
{
    if (!comm || --comm->all->refs > 0) return;
    sl_comm_ranks *all = comm->all;
    if (!all->freed) comm->device->backend->comm_close(all);
    deallocate(all);
}

static sl_status enter_free(sl_comm *comm, const char *what, sl_error *err)
{
    if (!comm || comm->all->freed)
        return sl_fail(err, SL_ECLOSED, "the communicator has been freed");
    for (int i = 0; i < comm->all->n; i++) {
        sl_device *device = comm->all->rank[i]->device;
        sl_status status = sl__device_enter_lost(device, what, err);
        if (status != SL_OK) return status;
        sl__device_reap(device);
    }
    return SL_OK;
}

static sl_status check_idle(const sl_comm_ranks *all, sl_error *err)
{
    for (int i = 0; i < all->n; i++) {
        const sl_comm *comm = all->rank[i];
        if (comm->in_flight && !comm->device->fault.status)
            return sl_fail(err, SL_ESTATE,
                           "rank %d has %lld collective%s in flight: synchronise first, or abort "
                           "the communicator",
                           comm->rank, (long long)comm->in_flight, comm->in_flight == 1 ? "" : "s");
        if (all->requests) return sl_fail(err, SL_ESTATE, "the open group has collectives of it");
    }
    return SL_OK;
}

static void close_ranks(sl_comm_ranks *all, sl_comm *comm)
{
    comm->device->backend->comm_close(all);
    all->freed = true;
}

sl_status sl_comm_free(sl_comm *comm, sl_error *err)
{
    sl_status status = enter_free(comm, "free", err);
    if (status == SL_OK) status = check_idle(comm->all, err);
    if (status == SL_OK) close_ranks(comm->all, comm);
    return status;
}

sl_status sl_comm_abort(sl_comm *comm, sl_error *err)
{
    sl_status status = enter_free(comm, "abort", err);
    if (status != SL_OK) return status;
    if (comm->all->requests) return sl_fail(err, SL_ESTATE, "the open group has collectives of it");
    comm->device->backend->comm_abort(comm->all);
    close_ranks(comm->all, comm);
    for (int i = 0; i < comm->all->n; i++)
        sl__device_reap(comm->all->rank[i]->device);
    return SL_OK;
}

/* ---- operations ---- */

static void let_go(sl_op *op)
{
    op->comm->in_flight--;
    sl__meeting_release(op->meeting);
    sl_comm_release(op->comm);
}

void sl__comm_hold(sl_op *op, sl_comm *comm, sl_meeting *meeting)
{
    op->let_go = let_go;
    op->comm = sl_comm_retain(comm);
    op->meeting = meeting;
    meeting->refs++;
    comm->in_flight++;
}

/* ---- questions ---- */

bool sl_comm_is_freed(const sl_comm *comm) { return comm->all->freed; }
int sl_comm_rank(const sl_comm *comm) { return comm->rank; }
int sl_comm_size(const sl_comm *comm) { return comm->all->size; }
sl_device *sl_comm_device(const sl_comm *comm) { return comm->device; }
int sl_comm_local_count(const sl_comm *comm) { return comm->all->n; }

sl_comm *sl_comm_local(const sl_comm *comm, int i)
{
    return i >= 0 && i < comm->all->n ? comm->all->rank[i] : NULL;
}

const char *sl__rank_noun_of(const sl_comm *comm, const char *what, sl__rank_noun *noun)
{
    snprintf(noun->text, sizeof noun->text, "rank %d%s", comm->rank, what);
    return noun->text;
}
