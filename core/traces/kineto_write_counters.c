/* kineto_write_counters.c - counters of a timeline as Perfetto's counter tracks: an event of phase
 * C where a value changes. Our reader passes these by: they are computed again.
 */
#include <stdlib.h>

#include "kineto.h"
#include "kineto_write.h"

static void put_value(sl__writer *w, sl_unit unit, int64_t value)
{
    switch (unit) {
    case SL_UNIT_COUNT: sl__json_int(&w->file, "\"value\":", value); break;
    case SL_UNIT_BYTES: sl__json_int(&w->file, "\"bytes\":", value); break;
    case SL_UNIT_BYTES_PER_S: sl__json_milli(&w->file, "\"GB/s\":", value / 1000000); break;
    }
}

static void put_counter(sl__writer *w, const sl_counter *counter)
{
    const bool on_host = counter->kind == SL_COUNTER_PINNED;
    const int pid = on_host ? SL__HOST_PID : w->devices[counter->place].pid;
    for (size_t i = 0; i < counter->n && !sl__outfile_failed(&w->file); i++) {
        sl__write_begin(w, "{\"ph\":\"C\"");
        sl__json_string(&w->file, ",\"name\":", sl_counter_title(counter->kind));
        sl__write_place(w, pid, 0);
        sl__json_milli(&w->file, ",\"ts\":", counter->at[i].at_ns - w->base_ns);
        sl__json_raw(&w->file, ",\"args\":{");
        put_value(w, sl_counter_unit(counter->kind), counter->at[i].value);
        sl__json_raw(&w->file, "}}");
    }
}

sl_status sl__write_counters(sl__writer *w, sl_error *err)
{
    sl_status status = SL_OK;
    for (int place = 0; place < sl_timeline_device_count(w->timeline); place++) {
        for (int kind = 0; kind < SL_COUNTERS && status == SL_OK; kind++) {
            sl_counter counter;
            status = sl_timeline_counter(w->timeline, (sl_counter_kind)kind, place, &counter, err);
            if (status != SL_OK) break;
            put_counter(w, &counter);
            free(counter.at);
        }
    }
    return status;
}
