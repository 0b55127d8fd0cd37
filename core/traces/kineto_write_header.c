/* kineto_write_header.c - what a trace says of the whole, before its events. */
#include "kineto_write.h"

static void put_streams(sl__writer *w)
{
    size_t n;
    const sl_stream_note *notes = sl_timeline_streams(w->timeline, &n);
    sl__write_raw(w, ",\n \"streams\":[");
    for (size_t i = 0; i < n; i++) {
        sl__write_int(w, i ? ",\n  {\"id\":" : "\n  {\"id\":", notes[i].id);
        sl__write_text(w, ",\"name\":", sl_timeline_text(w->timeline, notes[i].name));
        sl__write_int(w, ",\"priority\":", notes[i].priority);
        sl__write_bool(w, ",\"non_blocking\":", notes[i].non_blocking);
        if (notes[i].numbered) sl__write_int(w, ",\"number\":", notes[i].number);
        if (notes[i].is_row) sl__write_int(w, ",\"row_of\":", notes[i].row_of);
        sl__write_raw(w, "}");
    }
    sl__write_raw(w, "]");
}

static void put_sources(sl__writer *w)
{
    const char *between = "\n  ";
    sl__write_raw(w, ",\n \"sources\":{");
    for (uint32_t id = 1; id < sl_timeline_text_count(w->timeline); id++) {
        const char *line = sl_timeline_source(w->timeline, id);
        if (!*line) continue;
        sl__write_text(w, between, sl_timeline_text(w->timeline, id));
        sl__write_text(w, ":", line);
        between = ",\n  ";
    }
    sl__write_raw(w, "}");
}

/* What other runs took. */
static void put_range(sl__writer *w)
{
    const sl_range range = sl_timeline_range(w->timeline);
    if (range.runs == 0) return;
    sl__write_int(w, ",\"range\":{\"low_ns\":", range.low_ns);
    sl__write_int(w, ",\"high_ns\":", range.high_ns);
    sl__write_int(w, ",\"runs\":", range.runs);
    if (range.swapped > 0) {
        sl__write_int(w, ",\"swapped\":", range.swapped);
        sl__write_text(w, ",\"earlier\":", sl_cause_name(range.earlier));
        sl__write_text(w, ",\"later\":", sl_cause_name(range.later));
    }
    sl__write_raw(w, "}");
}

/* Of several, the numbers in order of their places. */
static void put_devices(sl__writer *w)
{
    int n = sl_timeline_device_count(w->timeline);
    if (n == 1) return;
    for (int place = 0; place < n; place++) {
        const sl_device_info *info = sl_timeline_device_at(w->timeline, place);
        sl__write_int(w, place ? ",{\"id\":" : ",\"devices\":[{\"id\":", info->index);
        sl__write_text(w, ",\"profile\":", info->profile);
        sl__write_raw(w, "}");
    }
    sl__write_raw(w, "]");
}

/* What other tools have no keys for. */
static void put_own(sl__writer *w)
{
    const sl_device_info *info = sl_timeline_device(w->timeline);
    sl__write_raw(w, "\"streamlab\":{\"version\":\"" STREAMLAB_VERSION "\"");
    sl__write_text(w, ",\"backend\":", info->backend);
    sl__write_text(w, ",\"device\":", info->name);
    sl__write_text(w, ",\"profile\":", info->profile);
    sl__write_bool(w, ",\"simulated\":", info->simulated);
    if (sl_timeline_origin(w->timeline).pytorch) sl__write_bool(w, ",\"pytorch\":", true);
    sl__write_int(w, ",\"async_engines\":", info->async_engine_count);
    sl__write_int(w, ",\"priorities\":[", info->priority_least);
    sl__write_int(w, ",", info->priority_greatest);
    sl__write_int(w, "],\n \"start_ns\":", sl_timeline_host_start_ns(w->timeline));
    sl__write_int(w, ",\"wall_ns\":", sl_timeline_wall_ns(w->timeline));
    put_range(w);
    put_devices(w);
    put_streams(w);
    put_sources(w);
    sl__write_raw(w, "},\n");
}

static void put_properties(sl__writer *w, const sl_device_info *info)
{
    sl__write_int(w, "{\"id\":", info->index);
    sl__write_text(w, ",\"name\":", info->name);
    sl__write_int(w, ",\"totalGlobalMem\":", info->memory_bytes);
    sl__write_int(w, ",\"computeMajor\":", info->compute_capability_major);
    sl__write_int(w, ",\"computeMinor\":", info->compute_capability_minor);
    sl__write_int(w, ",\"maxThreadsPerBlock\":", info->max_threads_per_block);
    sl__write_int(w, ",\"sharedMemPerBlockOptin\":", info->max_shared_bytes_per_block);
    sl__write_int(w, ",\"numSms\":", info->sm_count);
    sl__write_raw(w, "}");
}

void sl__kineto_put_header(sl__writer *w)
{
    sl__write_raw(w, "{\n\"schemaVersion\":1,\n\"deviceProperties\":[");
    for (int place = 0; place < sl_timeline_device_count(w->timeline); place++) {
        if (place > 0) sl__write_raw(w, ",\n ");
        put_properties(w, sl_timeline_device_at(w->timeline, place));
    }
    sl__write_raw(w, "],\n\"distributedInfo\":{\"rank\": 0},\n\"displayTimeUnit\":\"ms\",\n"
                     "\"baseTimeNanoseconds\":0,\n");
    put_own(w);
    sl__write_raw(w, "\"traceEvents\":[");
}
