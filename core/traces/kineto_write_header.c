/* kineto_write_header.c - what a trace says of the whole, before its events. */
#include "kineto_write.h"

#include "../text/json.h"

static void text(sl__outfile *file, const char *key, const char *value)
{
    sl__json_raw(file, key);
    sl__json_string(file, value);
}

static void number(sl__outfile *file, const char *key, int64_t value)
{
    sl__json_raw(file, key);
    sl__json_int(file, value);
}

static void truth(sl__outfile *file, const char *key, bool value)
{
    sl__json_raw(file, key);
    sl__json_raw(file, value ? "true" : "false");
}

static void put_streams(sl__outfile *file, const sl_timeline *timeline)
{
    size_t n;
    const sl_stream_note *notes = sl_timeline_streams(timeline, &n);
    sl__json_raw(file, ",\n \"streams\":[");
    for (size_t i = 0; i < n; i++) {
        number(file, i ? ",\n  {\"id\":" : "\n  {\"id\":", notes[i].id);
        text(file, ",\"name\":", sl_timeline_text(timeline, notes[i].name));
        number(file, ",\"priority\":", notes[i].priority);
        truth(file, ",\"non_blocking\":", notes[i].non_blocking);
        if (notes[i].numbered)
            number(file, ",\"number\":", notes[i].number);
        sl__json_raw(file, "}");
    }
    sl__json_raw(file, "]");
}

static void put_sources(sl__outfile *file, const sl_timeline *timeline)
{
    const char *between = "\n  ";
    sl__json_raw(file, ",\n \"sources\":{");
    for (uint32_t id = 1; id < sl_timeline_text_count(timeline); id++) {
        const char *line = sl_timeline_source(timeline, id);
        if (!*line)
            continue;
        text(file, between, sl_timeline_text(timeline, id));
        text(file, ":", line);
        between = ",\n  ";
    }
    sl__json_raw(file, "}");
}

/* What other tools have no keys for. */
static void put_own(sl__outfile *file, const sl_timeline *timeline)
{
    const sl_device_info *info = sl_timeline_device(timeline);
    sl__json_raw(file, "\"streamlab\":{\"version\":\"" STREAMLAB_VERSION "\"");
    text(file, ",\"backend\":", info->backend);
    text(file, ",\"device\":", info->name);
    text(file, ",\"profile\":", info->profile);
    truth(file, ",\"simulated\":", info->simulated);
    if (sl_timeline_origin(timeline).pytorch)
        truth(file, ",\"pytorch\":", true);
    number(file, ",\"async_engines\":", info->async_engine_count);
    number(file, ",\"priorities\":[", info->priority_least);
    number(file, ",", info->priority_greatest);
    number(file, "],\n \"start_ns\":", sl_timeline_host_start_ns(timeline));
    number(file, ",\"wall_ns\":", sl_timeline_wall_ns(timeline));
    put_streams(file, timeline);
    put_sources(file, timeline);
    sl__json_raw(file, "},\n");
}

void sl__kineto_put_header(sl__outfile *file, const sl_timeline *timeline)
{
    const sl_device_info *info = sl_timeline_device(timeline);
    number(file, "{\n\"schemaVersion\":1,\n\"deviceProperties\":[{\"id\":", info->index);
    text(file, ",\"name\":", info->name);
    number(file, ",\"totalGlobalMem\":", info->memory_bytes);
    number(file, ",\"computeMajor\":", info->compute_capability_major);
    number(file, ",\"computeMinor\":", info->compute_capability_minor);
    number(file, ",\"maxThreadsPerBlock\":", info->max_threads_per_block);
    number(file, ",\"sharedMemPerBlockOptin\":", info->max_shared_bytes_per_block);
    number(file, ",\"numSms\":", info->sm_count);
    sl__json_raw(file, "}],\n\"distributedInfo\":{\"rank\": 0},\n\"displayTimeUnit\":\"ms\",\n"
                       "\"baseTimeNanoseconds\":0,\n");
    put_own(file, timeline);
    sl__json_raw(file, "\"traceEvents\":[");
}
