/* copying.c - a timeline as another one. Texts are interned in their old order, so that ids stay.
 */
#include "copying.h"

#include "../base.h"
#include "store.h"
#include "timeline.h"

typedef struct copy {
    const sl__copying *by;
    const sl_timeline *whole;
    sl_timeline *made;
} copy;

static bool has_span(const copy *c, size_t at)
{
    sl_span span = sl_timeline_span(c->whole, at);
    return c->by->span(c->by->of, &span);
}

static bool has_call(const copy *c, size_t at)
{
    sl_call call = sl_timeline_call(c->whole, at);
    return c->by->call(c->by->of, &call);
}

/* Of a span or call of the whole; 0 for what is left out. */
static uint64_t kept(const copy *c, uint64_t correlation)
{
    if (correlation == 0) return 0;
    size_t at = sl_timeline_find_span(c->whole, correlation);
    if (at != SL_NOT_FOUND) return has_span(c, at) ? correlation : 0;
    at = sl_timeline_find_call(c->whole, correlation);
    return at != SL_NOT_FOUND && has_call(c, at) ? correlation : 0;
}

/* ---- what is the same in every copy ----------------------------------------------------- */

static sl_status copy_texts(const copy *c, sl_error *err)
{
    const size_t n = sl_timeline_text_count(c->whole);
    sl_status status = SL_OK;
    for (uint32_t id = 0; id < n && status == SL_OK; id++) {
        uint32_t same;
        status = sl_timeline_intern(c->made, sl_timeline_text(c->whole, id), &same, err);
        const char *source = sl_timeline_source(c->whole, id);
        if (status == SL_OK && source[0] != '\0')
            status = sl_timeline_set_source(c->made, id, source, err);
    }
    return status;
}

static sl_status copy_devices(const copy *c, sl_error *err)
{
    sl_status status = SL_OK;
    sl_timeline_set_device(c->made, sl_timeline_device(c->whole));
    for (int place = 1; place < sl_timeline_device_count(c->whole) && status == SL_OK; place++) {
        int same;
        status = sl_timeline_add_device(c->made, sl_timeline_device_at(c->whole, place), &same,
                                        err);
    }
    return status;
}

static sl_status copy_streams(const copy *c, sl_error *err)
{
    size_t n;
    const sl_stream_note *notes = sl_timeline_streams(c->whole, &n);
    sl_status status = SL_OK;
    for (size_t i = 0; i < n && status == SL_OK; i++)
        status = sl_timeline_add_stream(c->made, &notes[i], err);
    return status;
}

static sl_status copy_host_threads(const copy *c, sl_error *err)
{
    const uint32_t n = sl_timeline_known_threads(c->whole);
    sl_status status = SL_OK;
    for (uint32_t thread = 0; thread < n && status == SL_OK; thread++) {
        const sl_host_thread is = sl_timeline_host_thread(c->whole, thread);
        status = sl_timeline_set_host_thread(c->made, thread, &is, err);
    }
    return status;
}

static sl_status copy_common(const copy *c, sl_error *err)
{
    sl_status status = copy_texts(c, err);
    if (status == SL_OK) status = copy_devices(c, err);
    if (status == SL_OK) status = copy_streams(c, err);
    if (status == SL_OK) status = sl_timeline_set_name(c->made, sl_timeline_name(c->whole), err);
    return status == SL_OK ? copy_host_threads(c, err) : status;
}

/* ---- operations and calls --------------------------------------------------------------- */

static sl_status copy_thread(const copy *c, uint64_t correlation, sl_error *err)
{
    const sl_thread_note note = { correlation, sl_timeline_thread(c->whole, correlation) };
    return note.thread == 0 ? SL_OK : sl_timeline_add_thread(c->made, &note, err);
}

static sl_status copy_hold(const copy *c, bool is_reported, sl_hold hold, sl_error *err)
{
    if (!c->by->hold(c->by->of, is_reported, &hold)) return SL_OK;
    hold.ready_by = kept(c, hold.ready_by);
    hold.start_by = kept(c, hold.start_by);
    return sl_timeline_add_hold(c->made, &hold, err);
}

static sl_status copy_collective(const copy *c, sl_collective_note note, sl_error *err)
{
    note.late_by = kept(c, note.late_by);
    if (note.met_ns != 0) note.met_ns = c->by->met(c->by->of, note.correlation, note.met_ns);
    return sl_timeline_add_collective(c->made, &note, err);
}

static sl_status copy_notes(const copy *c, uint64_t correlation, sl_error *err)
{
    const sl_collective_note *collective = sl_timeline_find_collective(c->whole, correlation);
    const sl_exchange_note *exchange = sl_timeline_find_exchange(c->whole, correlation);
    const sl_peer_note *peer = sl_timeline_find_peer(c->whole, correlation);
    sl_node_note node;
    sl_status status = SL_OK;
    if (sl_timeline_find_node(c->whole, correlation, &node)) {
        node.launch = kept(c, node.launch);
        status = sl_timeline_add_node(c->made, &node, err);
    }
    if (status == SL_OK && peer) status = sl_timeline_add_peer(c->made, peer, err);
    if (status == SL_OK && exchange) status = sl_timeline_add_exchange(c->made, exchange, err);
    return status == SL_OK && collective ? copy_collective(c, *collective, err) : status;
}

static sl_status copy_span(const copy *c, size_t i, sl_error *err)
{
    sl_span span = sl_timeline_span(c->whole, i);
    sl_hold hold = { .correlation = span.correlation };
    if (!c->by->span(c->by->of, &span)) return SL_OK;
    sl_status status = sl_timeline_add_span(c->made, &span, err);
    if (status == SL_OK) status = copy_thread(c, span.correlation, err);
    if (status == SL_OK) status = copy_notes(c, span.correlation, err);
    const bool is_reported = sl_timeline_span_hold(c->whole, i, &hold);
    return status == SL_OK ? copy_hold(c, is_reported, hold, err) : status;
}

static sl_status copy_call(const copy *c, size_t i, sl_error *err)
{
    sl_call call = sl_timeline_call(c->whole, i);
    sl_hold hold = { .correlation = call.correlation };
    if (!c->by->call(c->by->of, &call)) return SL_OK;
    call.target = kept(c, call.target);
    if (call.target == 0) call.target_stream = 0;
    sl_status status = sl_timeline_add_call(c->made, &call, err);
    const sl_memory_note *memory = sl_timeline_find_memory(c->whole, call.correlation);
    if (status == SL_OK && memory) status = sl_timeline_add_memory(c->made, memory, err);
    if (status == SL_OK) status = copy_thread(c, call.correlation, err);
    const bool is_reported = sl_timeline_call_hold(c->whole, i, &hold);
    return status == SL_OK ? copy_hold(c, is_reported, hold, err) : status;
}

static sl_status copy_operations(const copy *c, sl_error *err)
{
    const size_t n_spans = sl_timeline_span_count(c->whole);
    const size_t n_calls = sl_timeline_call_count(c->whole);
    sl_status status = SL_OK;
    for (size_t i = 0; i < n_spans && status == SL_OK && !sl__stops_at(i); i++)
        status = copy_span(c, i, err);
    for (size_t i = 0; i < n_calls && status == SL_OK && !sl__stops_at(i); i++)
        status = copy_call(c, i, err);
    return status == SL_OK ? sl_interrupt_check(err) : status;
}

static sl_status copy_launches(const copy *c, sl_error *err)
{
    size_t n;
    const sl_launch_note *notes = sl_timeline_launches(c->whole, &n);
    sl_status status = SL_OK;
    for (size_t i = 0; i < n && status == SL_OK; i++)
        if (kept(c, notes[i].correlation) != 0)
            status = sl_timeline_add_launch(c->made, &notes[i], err);
    return status;
}

/* ---- what was at some time -------------------------------------------------------------- */

static sl_status copy_ranges(const copy *c, sl_error *err)
{
    const size_t n = sl_timeline_host_range_count(c->whole);
    sl_status status = SL_OK;
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        sl_host_range range = sl_timeline_host_range(c->whole, i);
        if (c->by->range(c->by->of, &range))
            status = sl_timeline_add_host_range(c->made, &range, err);
    }
    return status;
}

static sl_status copy_samples(const copy *c, sl_error *err)
{
    size_t n;
    const sl_memory_sample *all = sl_timeline_memory_samples(c->whole, &n);
    sl_status status = SL_OK;
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        sl_memory_sample sample = all[i];
        if (c->by->sample(c->by->of, i + 1 < n ? &all[i + 1] : NULL, &sample))
            status = sl_timeline_add_memory_sample(c->made, &sample, err);
    }
    return status;
}

sl_status sl__timeline_copy(const sl__copying *copying, sl_timeline *made, sl_error *err)
{
    const copy c = { copying, copying->whole, made };
    sl_status status = copy_common(&c, err);
    if (status == SL_OK) status = copy_operations(&c, err);
    if (status == SL_OK) status = copy_launches(&c, err);
    if (status == SL_OK) status = copy_samples(&c, err);
    return status == SL_OK ? copy_ranges(&c, err) : status;
}
