/* kineto_write_header.c - what a trace says of the whole, before its events. */
#include "kineto_write.h"

#include "../timeline/thread_names.h"

static void put_streams(sl__writer *w)
{
    size_t n;
    const sl_stream_note *notes = sl_timeline_streams(w->timeline, &n);
    sl__json_raw(&w->file, ",\n \"streams\":[");
    for (size_t i = 0; i < n; i++) {
        sl__json_int(&w->file, i ? ",\n  {\"id\":" : "\n  {\"id\":", notes[i].id);
        sl__json_string(&w->file, ",\"name\":", sl_timeline_text(w->timeline, notes[i].name));
        sl__json_int(&w->file, ",\"priority\":", notes[i].priority);
        sl__json_bool(&w->file, ",\"non_blocking\":", notes[i].non_blocking);
        if (notes[i].numbered) sl__json_int(&w->file, ",\"number\":", notes[i].number);
        if (notes[i].is_row) sl__json_int(&w->file, ",\"row_of\":", notes[i].row_of);
        if (notes[i].context) sl__json_uint(&w->file, ",\"context\":", notes[i].context);
        if (notes[i].is_null) sl__json_bool(&w->file, ",\"is_null\":", true);
        sl__json_raw(&w->file, "}");
    }
    sl__json_raw(&w->file, "]");
}

/* Of threads of which something is known. */
static void put_host_threads(sl__writer *w)
{
    const uint32_t n = sl_timeline_known_threads(w->timeline);
    const char *between = ",\n \"threads\":[\n  {\"id\":";
    bool some = false;
    for (uint32_t thread = 0; thread < n; thread++) {
        const sl_host_thread is = sl_timeline_host_thread(w->timeline, thread);
        if (is.name == 0 && is.caller == thread) continue;
        sl__json_uint(&w->file, some ? ",\n  {\"id\":" : between, thread);
        sl__json_uint(&w->file, ",\"caller\":", is.caller);
        if (is.name != 0)
            sl__json_string(&w->file, ",\"name\":", sl_timeline_text(w->timeline, is.name));
        sl__json_raw(&w->file, "}");
        some = true;
    }
    if (some) sl__json_raw(&w->file, "]");
}

static void put_sources(sl__writer *w)
{
    const char *between = "\n  ";
    sl__json_raw(&w->file, ",\n \"sources\":{");
    for (uint32_t id = 1; id < sl_timeline_text_count(w->timeline); id++) {
        const char *line = sl_timeline_source(w->timeline, id);
        if (!*line) continue;
        sl__json_string(&w->file, between, sl_timeline_text(w->timeline, id));
        sl__json_string(&w->file, ":", line);
        between = ",\n  ";
    }
    sl__json_raw(&w->file, "}");
}

/* What other runs took. */
static void put_range(sl__writer *w)
{
    const sl_range range = sl_timeline_range(w->timeline);
    if (range.runs == 0) return;
    sl__json_int(&w->file, ",\"range\":{\"low_ns\":", range.low_ns);
    sl__json_int(&w->file, ",\"high_ns\":", range.high_ns);
    sl__json_int(&w->file, ",\"runs\":", range.runs);
    if (range.swapped > 0) {
        sl__json_int(&w->file, ",\"swapped\":", range.swapped);
        sl__json_string(&w->file, ",\"earlier\":", sl_cause_name(range.earlier));
        sl__json_string(&w->file, ",\"later\":", sl_cause_name(range.later));
    }
    sl__json_raw(&w->file, "}");
}

/* Of several, the numbers in order of their places. */
static void put_devices(sl__writer *w)
{
    int n = sl_timeline_device_count(w->timeline);
    if (n == 1) return;
    for (int place = 0; place < n; place++) {
        const sl_device_info *info = sl_timeline_device_at(w->timeline, place);
        sl__json_int(&w->file, place ? ",{\"id\":" : ",\"devices\":[{\"id\":", info->index);
        sl__json_string(&w->file, ",\"profile\":", info->profile);
        sl__json_raw(&w->file, "}");
    }
    sl__json_raw(&w->file, "]");
}

/* What other tools have no keys for. */
static void put_own(sl__writer *w)
{
    const sl_device_info *info = sl_timeline_device(w->timeline);
    sl__json_raw(&w->file, "\"streamlab\":{\"version\":\"" STREAMLAB_VERSION "\"");
    sl__json_string(&w->file, ",\"backend\":", info->backend);
    sl__json_string(&w->file, ",\"device\":", info->name);
    sl__json_string(&w->file, ",\"profile\":", info->profile);
    sl__json_bool(&w->file, ",\"simulated\":", info->simulated);
    if (sl_timeline_origin(w->timeline).pytorch) sl__json_bool(&w->file, ",\"pytorch\":", true);
    const sl_origin origin = sl_timeline_origin(w->timeline);
    if (origin.is_joined) sl__json_bool(&w->file, ",\"ranks\":", true);
    if (origin.recorded) sl__json_bool(&w->file, ",\"recorded\":", true);
    if (origin.is_played)
        sl__json_bool(&w->file, ",\"played\":", true);
    else if (origin.recorded && origin.costs.call_ns == 0)
        sl__json_bool(&w->file, ",\"nsys\":", true);
    if (!origin.recorded && origin.costs.work_ns > 0)
        sl__json_int(&w->file, ",\"recording_ns\":", origin.costs.work_ns);
    sl__json_int(&w->file, ",\"async_engines\":", info->async_engine_count);
    sl__json_int(&w->file, ",\"priorities\":[", info->priority_least);
    sl__json_int(&w->file, ",", info->priority_greatest);
    sl__json_int(&w->file, "],\n \"start_ns\":", sl_timeline_host_start_ns(w->timeline));
    sl__json_int(&w->file, ",\"wall_ns\":", sl_timeline_wall_ns(w->timeline));
    put_range(w);
    put_devices(w);
    put_streams(w);
    put_host_threads(w);
    put_sources(w);
    sl__json_raw(&w->file, "},\n");
}

static void put_properties(sl__writer *w, const sl_device_info *info)
{
    sl__json_int(&w->file, "{\"id\":", info->index);
    sl__json_string(&w->file, ",\"name\":", info->name);
    sl__json_int(&w->file, ",\"totalGlobalMem\":", info->memory_bytes);
    sl__json_int(&w->file, ",\"computeMajor\":", info->compute_capability_major);
    sl__json_int(&w->file, ",\"computeMinor\":", info->compute_capability_minor);
    sl__json_int(&w->file, ",\"maxThreadsPerBlock\":", info->max_threads_per_block);
    sl__json_int(&w->file, ",\"sharedMemPerBlockOptin\":", info->max_shared_bytes_per_block);
    sl__json_int(&w->file, ",\"numSms\":", info->sm_count);
    sl__json_raw(&w->file, "}");
}

/* Which rank of a distributed program it is, and what the system's clock showed at time 0 of the
 * file, as far as it is read again (kineto_header.c). HTA looks for the blank. */
static void put_rank(sl__writer *w)
{
    const sl_origin origin = sl_timeline_origin(w->timeline);
    const int64_t base_ns = origin.epoch_ns ? origin.epoch_ns + w->base_ns : 0;
    sl__json_int(&w->file, "],\n\"distributedInfo\":{\"rank\": ", origin.rank);
    if (origin.ranks > 0) sl__json_int(&w->file, ",\"world_size\":", origin.ranks);
    sl__json_int(&w->file, "},\n\"displayTimeUnit\":\"ms\",\n\"baseTimeNanoseconds\":",
                 sl__min(sl__max(base_ns, 0), INT64_MAX / 4));
    sl__json_raw(&w->file, ",\n");
}

void sl__kineto_put_header(sl__writer *w)
{
    sl__json_raw(&w->file, "{\n\"schemaVersion\":1,\n\"deviceProperties\":[");
    for (int place = 0; place < sl_timeline_device_count(w->timeline); place++) {
        if (place > 0) sl__json_raw(&w->file, ",\n ");
        put_properties(w, sl_timeline_device_at(w->timeline, place));
    }
    put_rank(w);
    put_own(w);
    sl__json_raw(&w->file, "\"traceEvents\":[");
}
