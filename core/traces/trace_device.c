/* trace_device.c - of which GPU the timeline of a trace is.
 *
 * A process may have worked with several. Each of them gets a timeline of its own, with the
 * host's calls, as engines, SMs, default streams and bounds are a GPU's own; all have the times of
 * the trace, so that their charts can stand one above the other. What the host issued to another
 * GPU is a call like any other. A trace of ours gives one timeline of all, unless one is asked for.
 */
#include "trace_match.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../timeline/sort.h"
#include "../timeline/store.h"

#define MOST_TOLD 16 /* devices of a trace, and the one that is taken */

SL__ORDER(by_value, int64_t, *x);

static void list_device(sl__match *m, int64_t device)
{
    if (device >= 0 && device < 64) m->origin.devices |= UINT64_C(1) << device;
}

/* `n` operations of one device. */
static void note_device(sl__match *m, int64_t device, size_t n)
{
    list_device(m, device);
    if (m->devices.len)
        sl_text_add(&m->devices, ", %" PRId64 " (%zu)", device, n);
    else
        sl_text_add(&m->devices, "%" PRId64 " (%zu operation%s)", device, n, n == 1 ? "" : "s");
}

/* Sorts them and gives the most frequent one, of equals the first. Only the first devices are
 * listed. */
static int64_t most_frequent(sl__match *m, int64_t *devices, size_t n)
{
    int64_t found = 0;
    size_t n_devices = 0;
    sl__sort(devices, n, sizeof *devices, by_value);
    for (size_t i = 0, from = 0, most = 0; i <= n; i++) {
        if (i < n && devices[i] == devices[from]) continue;
        if (n_devices++ < MOST_TOLD) note_device(m, devices[from], i - from);
        if (i - from > most) {
            most = i - from;
            found = devices[from];
        }
        from = i;
    }
    m->n_devices = n_devices;
    if (n_devices > MOST_TOLD) sl_text_add(&m->devices, " and %zu more", n_devices - MOST_TOLD);
    return found;
}

/* The first start and the last end of all work. */
static void measure(sl__match *m)
{
    const sl__records *records = m->records;
    m->origin.first_ns = INT64_MAX;
    m->origin.last_ns = INT64_MIN;
    for (size_t i = 0; i < records->n_works; i++) {
        const sl_span *span = &records->works[i].span;
        m->origin.first_ns = sl__min(m->origin.first_ns, span->start_ns);
        m->origin.last_ns = sl__max(m->origin.last_ns, span->end_ns);
    }
}

static sl_status refuse(sl__match *m, const char *devices, sl_error *err)
{
    return sl_fail(err, SL_ENOTFOUND, "it has no work on GPU %d; it has on %s",
                   m->records->wanted_device, devices);
}

static sl_status choose(sl__match *m, int64_t *devices, sl_error *err)
{
    const sl__records *records = m->records;
    size_t n = records->n_works;
    for (size_t i = 0; i < n; i++)
        devices[i] = records->works[i].device;
    m->device = most_frequent(m, devices, n);
    bool several = devices[0] != devices[n - 1];
    if (m->devices.failed) return sl__no_memory(err, "the devices of a trace");
    if (records->wanted_device != SL_BUSIEST_DEVICE) {
        int64_t wanted = records->wanted_device;
        if (!bsearch(&wanted, devices, n, sizeof wanted, by_value))
            return refuse(m, m->devices.data, err);
        m->device = wanted;
    }
    list_device(m, m->device);
    if (several)
        measure(m);
    else
        sl_text_free(&m->devices);
    return SL_OK;
}

/* All devices of ours; where it has one, that may be asked for. */
static sl_status choose_own(sl__match *m, sl_error *err)
{
    const sl__records *records = m->records;
    char name[32];
    m->device = records->n_devices ? records->devices[0].index : 0;
    if (records->wanted_device == SL_BUSIEST_DEVICE || records->wanted_device == m->device)
        return SL_OK;
    snprintf(name, sizeof name, "%" PRId64, m->device);
    return refuse(m, name, err);
}

sl_status sl__device_choose(sl__match *m, sl_error *err)
{
    sl__records *records = m->records;
    size_t n = records->n_works;
    bool some = records->wanted_device != SL_BUSIEST_DEVICE && records->n_places > 1;
    m->takes_one = !records->own || some;
    if (!m->takes_one || n == 0) return choose_own(m, err);
    int64_t *devices = calloc(n, sizeof *devices);
    if (!devices) return sl__no_memory(err, "%zu events of a trace", n);
    if (records->own) sl__own_device_note(records);
    sl_status status = choose(m, devices, err);
    free(devices);
    return status == SL_OK && records->own ? sl__own_device_take(records, m->device, err) : status;
}

void sl__device_leave_others(sl__match *m)
{
    sl__records *records = m->records;
    size_t n = 0;
    for (size_t i = 0; i < records->n_works; i++) {
        if (m->takes_one && records->works[i].device != m->device) continue;
        if (n < i) records->works[n] = records->works[i];
        n++;
    }
    records->n_works = n;
}
