/* xla_frames.c - what the host was about in a trace of XLA's profiler: functions in Python, steps,
 * and what XLA or the program marks.
 *
 * Of a function in Python the trace has the file's name without its folder ("$core.py:113 invars"),
 * which may be one of JAX or of the program. But a program calls JAX by few functions, whose files
 * are listed here: what lies in one of these is JAX's. Likewise most of what XLA marks lies in
 * something with "::" in its name, or in a call of a function that is compiled.
 */
#include <stdlib.h>
#include <string.h>

#include "../timeline/sort.h"
#include "../timeline/store.h"
#include "kineto_read.h"
#include "xla.h"

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Where JAX is entered; and its files that stand around the program's. */
static bool is_jaxs(const char *file)
{
    static const char *const files[] = {
        "ad_checkpoint.py:",
        "api.py:",
        "array.py:",
        "array_methods.py:",
        "basearray.py:",
        "contextlib.py:",
        "custom_derivatives.py:",
        "dispatch.py:",
        "functools.py:",
        "indexing.py:",
        "lax.py:",
        "lax_numpy.py:",
        "linear_util.py:",
        "pjit.py:",
        "profiler.py:",
        "pxla.py:",
        "random.py:",
        "reductions.py:",
        "stages.py:",
        "tensor_contractions.py:",
        "threading.py:",
        "traceback_util.py:",
        "tree_util.py:",
        "ufuncs.py:",
        "xla_bridge.py:",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (begins(file, files[i])) return true;
    return false;
}

static bool is_xlas(const char *name)
{
    static const char *const starts[] = { "PjitFunction", "ParseArguments", "XlaModule",   "Thunk",
                                          "Wait for ",    "DevicePut",      "D2D Dispatch" };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (begins(name, starts[i])) return true;
    return strstr(name, "::") != NULL;
}

/* "train.py:12 main" becomes kineto's "train.py(12): main". What has no line ("builtins len") is of
 * a library. */
static void take_python(const char *name, sl__xla_frame *frame, sl_text *to)
{
    const char *colon = strchr(name, ':'), *blank = colon ? strchr(colon, ' ') : NULL;
    const bool has_line = blank && blank > colon + 1 && *name != '<';
    frame->range.kind = has_line ? SL_HOST_RANGE_PYTHON : SL_HOST_RANGE_LIBRARY;
    frame->is_jaxs = has_line && is_jaxs(name);
    if (has_line)
        sl_text_add(to, "%.*s(%.*s): %s", (int)(colon - name), name, (int)(blank - colon - 1),
                    colon + 1, blank + 1);
    else
        sl_text_add(to, "%s", name);
}

static void take_mark(const char *name, sl__xla_frame *frame, int64_t step, sl_text *to)
{
    frame->range.kind = step >= 0 ? SL_HOST_RANGE_STEP : SL_HOST_RANGE_ANNOTATION;
    if (step >= 0)
        sl_text_add(to, "%s %lld", name, (long long)step);
    else
        sl_text_add(to, "%s", name);
    frame->is_xlas |= step < 0 && is_xlas(name);
}

sl_status sl__xla_frame_take(sl__reader *r, sl__xla_frame *frame, int64_t step)
{
    sl__event *event = &r->event;
    sl__xla *xla = &r->xla;
    const char *name = r->text.data;
    sl_text text = { 0 };
    if (*name == '$')
        take_python(name + 1, frame, &text);
    else
        take_mark(name, frame, step, &text);
    if (text.failed)
        event->status = sl__no_memory(event->err, "the name of a range");
    else if (text.len > 0)
        event->status = sl_timeline_intern(r->records.timeline, text.data, &frame->range.name,
                                           event->err);
    sl_text_free(&text);
    if (event->status == SL_OK && frame->range.name != 0)
        event->status = sl__records_add((void **)&xla->frames, &xla->n_frames, &xla->cap_frames,
                                        frame, sizeof *frame, event->err);
    return event->status;
}

/* ---- what lies in what ---- */

/* Of those that begin at once the longest first. */
SL__ORDER(by_thread_and_start, sl__xla_frame, x->pid, x->tid, x->range.start_ns,
          SL__DOWN(x->range.end_ns), x->number);

sl_status sl__xla_frames_end(sl__reader *r, sl_error *err)
{
    const sl__xla *xla = &r->xla;
    int64_t until_ns = INT64_MIN; /* JAX and XLA are at work */
    sl_status status = SL_OK;
    sl__sort(xla->frames, xla->n_frames, sizeof *xla->frames, by_thread_and_start);
    for (size_t i = 0; i < xla->n_frames && status == SL_OK; i++) {
        const sl__xla_frame *frame = &xla->frames[i], *last = i > 0 ? frame - 1 : frame;
        sl_host_range range = frame->range;
        if (sl__stops_at(i)) status = sl_interrupt_check(err);
        if (frame->tid != last->tid || frame->pid != last->pid) until_ns = INT64_MIN;
        const bool is_step = range.kind == SL_HOST_RANGE_STEP;
        if (frame->is_jaxs || frame->is_xlas) until_ns = sl__max(until_ns, range.end_ns);
        if (!is_step && range.start_ns < until_ns) range.kind = SL_HOST_RANGE_LIBRARY;
        if (status == SL_OK)
            status = sl__records_add_range(&r->records, frame->pid, frame->tid, range, err);
    }
    return status;
}
