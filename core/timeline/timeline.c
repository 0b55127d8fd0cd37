/* timeline.c - the store behind timeline.h: spans, calls, streams and texts.
 *
 * Spans and calls (kept.c) and notes of some of them, in arrays that grow by doubling, and interned
 * texts (core/text/strings.c). What is added is checked here once, so that the readers can index
 * without checking.
 */
#include "timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kept.h"
#include "kernel_names.h"
#include "notes.h"
#include "store.h"
#include "summary.h"

struct sl_timeline {
    int32_t refs;
    bool finished;
    bool expects_times, has_untimed;
    sl__kept spans, calls;
    sl_hold *holds; /* until finish: of what has not been found yet */
    size_t n_holds, cap_holds;
    sl__notes notes[SL__NOTE_KINDS];
    sl__summary *summary;    /* instead of all of these; or NULL */
    sl_stream_note *streams; /* kept in order of id */
    size_t n_streams, cap_streams;
    sl__strings texts;
    char **sources; /* by text id, up to n_sources; NULL: not set */
    size_t n_sources;
    char *name; /* NULL: not set */
    sl__doubts doubts;
    sl__kernel_names kernel_names; /* from finish on */
    sl__kept_causes *causes;       /* changes though the timeline is read-only then */
    sl_origin origin;
    sl_range range;
    sl_device_info device;
    sl_device_info *others; /* at places from 1 on */
    size_t n_others, cap_others;
    bool several;              /* spans are of more than one */
    char backend[32];          /* device.backend points here, and those of the others */
    int64_t first_ns, last_ns; /* over all spans */
    int64_t host_start_ns, host_end_ns;
};

const sl_selection sl_select_all = {
    .stream = -1, .place = -1, .kind = -1, .engine = -1, .name = NULL
};

/* ---- growth ---------------------------------------------------------------- */

bool sl__reserve(void **array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) return true;
    size_t wanted = *cap ? *cap * 2 : 16;
    void *grown = wanted > SIZE_MAX / size ? NULL : realloc(*array, wanted * size);
    if (!grown) return false;
    *array = grown;
    *cap = wanted;
    return true;
}

static sl_status no_more(size_t n, const char *what, sl_error *err)
{
    return sl_fail(err, SL_ENOMEM, "no memory for more than %zu %s of a timeline", n, what);
}

static sl_status reserve(void **array, size_t n, size_t *cap, size_t size, const char *what,
                         sl_error *err)
{
    return sl__reserve(array, n, cap, size) ? SL_OK : no_more(n, what, err);
}

static sl_status refuse_finished(const sl_timeline *timeline, sl_error *err)
{
    if (!timeline->finished) return SL_OK;
    return sl_fail(err, SL_ESTATE, "the timeline is finished: nothing can be added any more");
}

/* ---- texts ----------------------------------------------------------------- */

sl_status sl_timeline_intern(sl_timeline *timeline, const char *text, uint32_t *id, sl_error *err)
{
    *id = text ? sl__strings_find(&timeline->texts, text) : 0;
    if (*id != 0 || !text || !*text) return SL_OK;
    sl_status status = refuse_finished(timeline, err);
    if (status != SL_OK) return status;
    *id = sl__strings_intern(&timeline->texts, text);
    if (*id == 0)
        return sl_fail(err, SL_ENOMEM, "no memory for a text of %zu bytes", strlen(text) + 1);
    return SL_OK;
}

bool sl__timeline_find_text(const sl_timeline *timeline, const char *text, uint32_t *id)
{
    *id = sl__strings_find(&timeline->texts, text);
    return *id != 0 || !*text;
}

const char *sl_timeline_text(const sl_timeline *timeline, uint32_t id)
{
    return sl__strings_text(&timeline->texts, id);
}

/* Grown to the table's size at once: there are about as many positions as texts. */
static sl_status reserve_sources(sl_timeline *timeline, uint32_t where, sl_error *err)
{
    if (where < timeline->n_sources) return SL_OK;
    size_t n = sl__strings_count(&timeline->texts);
    char **grown = realloc(timeline->sources, n * sizeof *grown);
    if (!grown) return sl_fail(err, SL_ENOMEM, "no memory for the script's lines");
    memset(grown + timeline->n_sources, 0, (n - timeline->n_sources) * sizeof *grown);
    timeline->sources = grown;
    timeline->n_sources = n;
    return SL_OK;
}

sl_status sl_timeline_set_source(sl_timeline *timeline, uint32_t where, const char *line,
                                 sl_error *err)
{
    if (where == 0 || where >= sl__strings_count(&timeline->texts))
        return sl_fail(err, SL_EINVAL,
                       "text id %" PRIu32 " was given for a script's position, but "
                       "the timeline has %zu texts",
                       where, sl__strings_count(&timeline->texts));
    sl_status status = reserve_sources(timeline, where, err);
    char *copy = status == SL_OK ? strdup(line) : NULL;
    if (!copy)
        return status != SL_OK ? status
                               : sl_fail(err, SL_ENOMEM, "no memory for a line of the script");
    free(timeline->sources[where]);
    timeline->sources[where] = copy;
    return SL_OK;
}

const char *sl_timeline_source(const sl_timeline *timeline, uint32_t where)
{
    return where < timeline->n_sources && timeline->sources[where] ? timeline->sources[where] : "";
}

sl_status sl_timeline_set_name(sl_timeline *timeline, const char *name, sl_error *err)
{
    char *copy = strdup(name);
    if (!copy) return sl_fail(err, SL_ENOMEM, "no memory for a name");
    free(timeline->name);
    timeline->name = copy;
    return SL_OK;
}

void sl_timeline_set_origin(sl_timeline *timeline, sl_origin origin) { timeline->origin = origin; }

void sl_timeline_set_range(sl_timeline *timeline, sl_range range) { timeline->range = range; }

sl_range sl_timeline_range(const sl_timeline *timeline) { return timeline->range; }

sl_origin sl_timeline_origin(const sl_timeline *timeline) { return timeline->origin; }

sl__doubts *sl__timeline_doubts(sl_timeline *timeline) { return &timeline->doubts; }

const char *sl_timeline_name(const sl_timeline *timeline)
{
    return timeline->name ? timeline->name : "";
}

/* ---- lifecycle ------------------------------------------------------------- */

sl_status sl_timeline_create(sl_timeline **timeline, sl_error *err)
{
    sl_timeline *created = calloc(1, sizeof *created);
    if (!created) return sl_fail(err, SL_ENOMEM, "no memory for a timeline");
    created->refs = 1;
    created->spans.forms.more = SL__SPAN_WORDS - 1;
    created->calls.forms.more = SL__CALL_WORDS - 1;
    created->device.backend = created->backend;
    created->causes = calloc(1, sizeof *created->causes);
    if (!created->causes) {
        sl_timeline_release(created);
        return sl_fail(err, SL_ENOMEM, "no memory for a timeline");
    }
    *timeline = created;
    return SL_OK;
}

sl_timeline *sl_timeline_retain(sl_timeline *timeline)
{
    timeline->refs++;
    return timeline;
}

void sl_explanation_free(sl_explanation *explanation)
{
    free(explanation->findings);
    free(explanation->waits);
    free(explanation->chain);
    *explanation = (sl_explanation){ 0 };
}

sl__kept_causes *sl__timeline_kept_causes(const sl_timeline *timeline) { return timeline->causes; }

void sl_timeline_release(sl_timeline *timeline)
{
    if (!timeline || --timeline->refs > 0) return;
    if (timeline->causes) sl_explanation_free(&timeline->causes->explanation);
    free(timeline->causes);
    sl__kernel_names_free(&timeline->kernel_names);
    sl__summary_free(timeline->summary);
    sl__strings_free(&timeline->texts);
    for (size_t id = 0; id < timeline->n_sources; id++)
        free(timeline->sources[id]);
    free(timeline->sources);
    sl__doubts_free(&timeline->doubts);
    free(timeline->name);
    sl__kept_free(&timeline->spans);
    sl__kept_free(&timeline->calls);
    free(timeline->holds);
    sl__notes_free(timeline->notes);
    free(timeline->streams);
    free(timeline->others);
    free(timeline);
}

sl_status sl_timeline_keep_summary(sl_timeline *timeline, sl_error *err)
{
    timeline->summary = calloc(1, sizeof *timeline->summary);
    return timeline->summary ? SL_OK : sl_fail(err, SL_ENOMEM, "no memory for a timeline");
}

bool sl_timeline_is_summary(const sl_timeline *timeline) { return timeline->summary != NULL; }

sl__summary *sl__timeline_summary(const sl_timeline *timeline) { return timeline->summary; }

/* ---- writing --------------------------------------------------------------- */

static bool time_fits(int64_t ns) { return ns > -SL__TIME_LIMIT_NS && ns < SL__TIME_LIMIT_NS; }

static sl_status check_interval(int64_t start_ns, int64_t end_ns, const char *what,
                                uint64_t correlation, sl_error *err)
{
    if (start_ns <= end_ns && time_fits(start_ns) && time_fits(end_ns)) return SL_OK;
    return sl_fail(err, SL_EINVAL,
                   "the %s of operation %" PRIu64 " lasts from %" PRId64 " to %" PRId64
                   " ns; it must not end before it starts, nor lie beyond 2^61 ns",
                   what, correlation, start_ns, end_ns);
}

static bool may_be_untimed(const sl_timeline *timeline, int64_t ns)
{
    return timeline->expects_times && ns == SL__UNTIMED;
}

static sl_status check_texts(const sl_timeline *timeline, uint32_t name, uint32_t where,
                             sl_error *err)
{
    size_t n = sl__strings_count(&timeline->texts);
    if (name < n && where < n) return SL_OK;
    return sl_fail(err, SL_EINVAL,
                   "text ids %" PRIu32 " and %" PRIu32
                   " were given, but the timeline has %zu texts",
                   name, where, n);
}

static sl_status check_span(const sl_timeline *timeline, const sl_span *span, sl_error *err)
{
    sl_status status = refuse_finished(timeline, err);
    if (status != SL_OK) return status;
    if (span->correlation == 0)
        return sl_fail(err, SL_EINVAL, "a span needs a correlation of at least 1, got 0");
    if (span->kind >= SL_SPAN_KINDS || span->engine >= SL_ENGINES)
        return sl_fail(err, SL_EINVAL,
                       "span %" PRIu64 " has kind %d and engine %d; "
                       "there are %d kinds and %d engines",
                       span->correlation, span->kind, span->engine, SL_SPAN_KINDS, SL_ENGINES);
    bool untimed = may_be_untimed(timeline, span->start_ns) && span->end_ns == SL__UNTIMED;
    if (!untimed)
        status = check_interval(span->start_ns, span->end_ns, "span", span->correlation, err);
    if (status == SL_OK)
        status = check_interval(span->host_start_ns, span->host_end_ns, "enqueueing call",
                                span->correlation, err);
    if (status == SL_OK) status = check_texts(timeline, span->name, span->where, err);
    if (status == SL_OK) status = check_texts(timeline, span->symbol, 0, err);
    return status;
}

static void extend(sl_timeline *timeline, const sl_span *span, bool first)
{
    if (first || span->start_ns < timeline->first_ns) timeline->first_ns = span->start_ns;
    if (first || span->end_ns > timeline->last_ns) timeline->last_ns = span->end_ns;
}

static sl_status sum_up(sl_timeline *timeline, const sl_span *span, sl_error *err)
{
    const bool first = timeline->summary->all.n == 0;
    if (!sl__summary_add(timeline->summary, span, sl_timeline_place(timeline, span->stream)))
        return sl_fail(err, SL_ENOMEM, "no memory for the summary of a timeline");
    extend(timeline, span, first);
    return SL_OK;
}

sl_status sl_timeline_add_span(sl_timeline *timeline, const sl_span *span, sl_error *err)
{
    sl_status status = check_span(timeline, span, err);
    if (status != SL_OK) return status;
    if (timeline->summary) return sum_up(timeline, span, err);
    if (!sl__kept_add_span(&timeline->spans, span)) return no_more(timeline->spans.n, "spans", err);
    if (span->end_ns == SL__UNTIMED)
        timeline->has_untimed = true;
    else
        extend(timeline, span, timeline->spans.n == 1);
    return SL_OK;
}

sl_status sl_timeline_add_call(sl_timeline *timeline, const sl_call *call, sl_error *err)
{
    sl_status status = refuse_finished(timeline, err);
    if (status != SL_OK) return status;
    bool untimed = may_be_untimed(timeline, call->device_ns);
    if (call->correlation == 0 || call->kind >= SL_CALL_KINDS
        || !(untimed || time_fits(call->device_ns)))
        return sl_fail(err, SL_EINVAL,
                       "a call has correlation %" PRIu64 " (at least 1), kind %d "
                       "(0 to %d) and device time %" PRId64 " ns (below 2^61)",
                       call->correlation, call->kind, SL_CALL_KINDS - 1, call->device_ns);
    status = check_interval(call->host_start_ns, call->host_end_ns, "call", call->correlation, err);
    if (status == SL_OK) status = check_texts(timeline, call->name, call->where, err);
    if (status != SL_OK || timeline->summary) return status;
    if (!sl__kept_add_call(&timeline->calls, call)) return no_more(timeline->calls.n, "calls", err);
    timeline->has_untimed |= untimed;
    return SL_OK;
}

/* The spans or the calls that have one with this correlation, and where, or NULL. */
static sl__kept *find_held(sl_timeline *timeline, uint64_t correlation, size_t *index)
{
    *index = sl__kept_find(&timeline->spans, correlation);
    if (*index != SL_NOT_FOUND) return &timeline->spans;
    *index = sl__kept_find(&timeline->calls, correlation);
    return *index != SL_NOT_FOUND ? &timeline->calls : NULL;
}

sl_status sl_timeline_add_hold(sl_timeline *timeline, const sl_hold *hold, sl_error *err)
{
    sl_status status = refuse_finished(timeline, err);
    if (status != SL_OK) return status;
    bool earlier = hold->ready_by < hold->correlation;
    if (!earlier || hold->ready_cause >= SL_CAUSES || hold->start_cause >= SL_CAUSES
        || !time_fits(hold->ready_ns))
        return sl_fail(err, SL_EINVAL,
                       "a hold of operation %" PRIu64 " by %" PRIu64
                       " (an earlier one) has causes %d and %d (below %d) and time %" PRId64
                       " ns (below 2^61)",
                       hold->correlation, hold->ready_by, hold->ready_cause, hold->start_cause,
                       SL_CAUSES, hold->ready_ns);
    if (timeline->summary) return SL_OK;
    size_t index;
    sl__kept *held = find_held(timeline, hold->correlation, &index);
    if (held) return sl__kept_set_hold(held, index, hold) ? SL_OK : no_more(index, "holds", err);
    status = reserve((void **)&timeline->holds, timeline->n_holds, &timeline->cap_holds,
                     sizeof *hold, "holds", err);
    if (status == SL_OK) timeline->holds[timeline->n_holds++] = *hold;
    return status;
}

sl__notes *sl__timeline_notes(sl_timeline *timeline) { return timeline->notes; }

sl_status sl_timeline_add_node(sl_timeline *timeline, const sl_node_note *note, sl_error *err)
{
    sl_status status = refuse_finished(timeline, err);
    if (status != SL_OK) return status;
    if (note->correlation <= note->launch)
        return sl_fail(err, SL_EINVAL,
                       "node %" PRIu64 " of a graph has launch %" PRIu64
                       ", which is no earlier one",
                       note->correlation, note->launch);
    return sl__note_add(timeline, SL__NODES, note, err);
}

sl_status sl_timeline_add_launch(sl_timeline *timeline, const sl_launch_note *note, sl_error *err)
{
    sl_status status = refuse_finished(timeline, err);
    if (status != SL_OK) return status;
    if (note->last < note->correlation || note->name >= sl_timeline_text_count(timeline))
        return sl_fail(err, SL_EINVAL,
                       "launch %" PRIu64 " of a graph ends with %" PRIu64
                       " (not an earlier one) and has name %" PRIu32 " (one of %zu texts)",
                       note->correlation, note->last, note->name, sl_timeline_text_count(timeline));
    return sl__note_add(timeline, SL__LAUNCHES, note, err);
}

/* The index of the first note whose id is at least `id`. */
static size_t note_place(const sl_timeline *timeline, uint32_t id)
{
    size_t low = 0, high = timeline->n_streams;
    if (high > 0 && timeline->streams[high - 1].id < id)
        return high; /* the usual case: streams come in order of creation */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (timeline->streams[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A second note of the same stream replaces the first. */
sl_status sl_timeline_add_stream(sl_timeline *timeline, const sl_stream_note *note, sl_error *err)
{
    sl_status status = refuse_finished(timeline, err);
    if (status == SL_OK) status = check_texts(timeline, note->name, 0, err);
    if (status != SL_OK) return status;
    size_t at = note_place(timeline, note->id);
    if (at < timeline->n_streams && timeline->streams[at].id == note->id) {
        timeline->streams[at] = *note;
        return SL_OK;
    }
    status = reserve((void **)&timeline->streams, timeline->n_streams, &timeline->cap_streams,
                     sizeof *note, "streams", err);
    if (status != SL_OK) return status;
    sl_stream_note *place = timeline->streams + at;
    memmove(place + 1, place, (timeline->n_streams - at) * sizeof *place);
    *place = *note;
    timeline->n_streams++;
    return SL_OK;
}

/* The backend's name is copied: a timeline outlives the device and its plugin. It may be the
 * timeline's own. */
void sl_timeline_set_device(sl_timeline *timeline, const sl_device_info *info)
{
    char backend[sizeof timeline->backend];
    snprintf(backend, sizeof backend, "%s", info->backend ? info->backend : "");
    memcpy(timeline->backend, backend, sizeof backend);
    timeline->device = *info;
    timeline->device.backend = timeline->backend;
}

sl_status sl_timeline_add_device(sl_timeline *timeline, const sl_device_info *info, int *place,
                                 sl_error *err)
{
    sl_status status = refuse_finished(timeline, err);
    if (status != SL_OK) return status;
    if (timeline->n_others + 1 == SL_MOST_DEVICES)
        return sl_fail(err, SL_EINVAL, "a timeline has %d devices at most", SL_MOST_DEVICES);
    status = reserve((void **)&timeline->others, timeline->n_others, &timeline->cap_others,
                     sizeof *info, "devices", err);
    if (status != SL_OK) return status;
    sl_device_info *added = &timeline->others[timeline->n_others++];
    *added = *info;
    added->backend = timeline->backend;
    *place = (int)timeline->n_others;
    return SL_OK;
}

/* Those of operations that came after them. Without memory one is lost. */
static void join_holds(sl_timeline *timeline)
{
    for (size_t i = 0; i < timeline->n_holds; i++) {
        size_t index;
        sl__kept *held = find_held(timeline, timeline->holds[i].correlation, &index);
        if (held) sl__kept_set_hold(held, index, &timeline->holds[i]);
    }
    free(timeline->holds);
    timeline->holds = NULL;
    timeline->n_holds = timeline->cap_holds = 0;
}

/* What was edited is checked as if it were added now. */
static void take_out_untimed(sl_timeline *timeline)
{
    size_t n = 0;
    timeline->first_ns = timeline->last_ns = 0;
    for (size_t i = 0; i < timeline->spans.n; i++) {
        sl_span span = sl__kept_span(&timeline->spans, i);
        if (check_interval(span.start_ns, span.end_ns, "span", span.correlation, NULL) != SL_OK)
            continue;
        extend(timeline, &span, n == 0);
        timeline->spans.at[n++] = timeline->spans.at[i];
    }
    timeline->spans.n = n;
    for (size_t i = 0; i < timeline->calls.n; i++) {
        sl_call call = sl__kept_call(&timeline->calls, i);
        if (time_fits(call.device_ns)) continue;
        call.device_ns = 0;
        sl__kept_set_call(&timeline->calls, i, &call); /* needs no memory: nothing gets larger */
    }
    timeline->has_untimed = false;
}

static bool has_several(const sl_timeline *timeline)
{
    if (timeline->summary) return sl__summary_has_several(timeline->summary);
    int first = -1;
    for (size_t i = 0; timeline->n_others > 0 && i < timeline->spans.n; i++) {
        int place = sl_timeline_place(timeline, sl_timeline_span(timeline, i).stream);
        if (i > 0 && place != first) return true;
        first = place;
    }
    return false;
}

/* "gpu1: copies". A trace of ours has such names already. Without memory the name stays. */
static void name_by_device(sl_timeline *timeline, sl_stream_note *note)
{
    char prefix[24], name[128];
    const char *own = sl_timeline_text(timeline, note->name);
    int place = sl_timeline_place(timeline, note->id);
    int index = sl_timeline_device_at(timeline, place)->index;
    uint32_t local = note->id - sl_timeline_stream_id(place, 0);
    snprintf(prefix, sizeof prefix, "gpu%d: ", index);
    if (strncmp(own, prefix, strlen(prefix)) == 0) return;
    if (note->name != 0)
        snprintf(name, sizeof name, "%s%.100s", prefix, own);
    else
        snprintf(name, sizeof name, "%sstream %" PRIu32, prefix, local);
    sl_timeline_intern(timeline, name, &note->name, NULL);
}

static void name_streams(sl_timeline *timeline)
{
    timeline->several = has_several(timeline);
    for (size_t i = 0; timeline->several && i < timeline->n_streams; i++)
        name_by_device(timeline, &timeline->streams[i]);
}

void sl_timeline_finish(sl_timeline *timeline, int64_t host_start_ns, int64_t host_end_ns)
{
    if (timeline->finished) return;
    if (timeline->summary) sl__summary_settle(timeline->summary, INT64_MAX);
    sl__timeline_sort(timeline);
    join_holds(timeline);
    sl__notes_sort(timeline->notes);
    if (timeline->has_untimed) take_out_untimed(timeline);
    sl__kept_trim(&timeline->spans);
    sl__kept_trim(&timeline->calls);
    sl__notes_meet(timeline);
    name_streams(timeline);
    timeline->host_start_ns = host_start_ns;
    timeline->host_end_ns = host_end_ns;
    timeline->finished = true;
    timeline->kernel_names = sl__kernel_names_find(timeline, &timeline->texts);
}

const char *sl__timeline_kernel_name(const sl_timeline *timeline, uint32_t name)
{
    return name < timeline->kernel_names.n ? timeline->kernel_names.at[name] : NULL;
}

/* ---- times that come later -------------------------------------------------- */

void sl__timeline_expect_times(sl_timeline *timeline) { timeline->expects_times = true; }

bool sl__timeline_has_untimed(const sl_timeline *timeline) { return timeline->has_untimed; }

void sl__timeline_sort(sl_timeline *timeline)
{
    sl__kept_sort(&timeline->spans);
    sl__kept_sort(&timeline->calls);
}

bool sl__timeline_set_span(sl_timeline *timeline, size_t index, const sl_span *span)
{
    return sl__kept_set_span(&timeline->spans, index, span);
}

bool sl__timeline_set_call(sl_timeline *timeline, size_t index, const sl_call *call)
{
    return sl__kept_set_call(&timeline->calls, index, call);
}

/* ---- reading --------------------------------------------------------------- */

const sl__kept *sl__timeline_spans(const sl_timeline *timeline) { return &timeline->spans; }

const sl__kept *sl__timeline_calls(const sl_timeline *timeline) { return &timeline->calls; }

size_t sl_timeline_span_count(const sl_timeline *timeline) { return timeline->spans.n; }

size_t sl_timeline_call_count(const sl_timeline *timeline) { return timeline->calls.n; }

sl_span sl_timeline_span(const sl_timeline *timeline, size_t index)
{
    return sl__kept_span(&timeline->spans, index);
}

sl_call sl_timeline_call(const sl_timeline *timeline, size_t index)
{
    return sl__kept_call(&timeline->calls, index);
}

const sl_node_note *sl_timeline_nodes(const sl_timeline *timeline, size_t *n)
{
    *n = timeline->notes[SL__NODES].n;
    return timeline->notes[SL__NODES].at;
}

const sl_launch_note *sl_timeline_launches(const sl_timeline *timeline, size_t *n)
{
    *n = timeline->notes[SL__LAUNCHES].n;
    return timeline->notes[SL__LAUNCHES].at;
}

size_t sl_timeline_text_count(const sl_timeline *timeline)
{
    return sl__strings_count(&timeline->texts);
}

const sl_stream_note *sl_timeline_streams(const sl_timeline *timeline, size_t *n)
{
    *n = timeline->n_streams;
    return timeline->streams;
}

/* Never NULL: all zero, with backend "", if no device was set. */
const sl_device_info *sl_timeline_device(const sl_timeline *timeline) { return &timeline->device; }

int sl_timeline_device_count(const sl_timeline *timeline) { return (int)timeline->n_others + 1; }

const sl_device_info *sl_timeline_device_at(const sl_timeline *timeline, int place)
{
    return place == 0 ? &timeline->device : &timeline->others[place - 1];
}

/* Traces of other programs have a device, and number their streams as they like. */
int sl_timeline_place(const sl_timeline *timeline, uint32_t stream)
{
    if (timeline->n_others == 0) return 0;
    bool first = stream >> 30 == 1; /* a further row there */
    size_t place = first ? 0 : stream >> SL_PLACE_SHIFT & (SL_MOST_DEVICES - 1);
    return place <= timeline->n_others ? (int)place : 0;
}

bool sl_timeline_has_several(const sl_timeline *timeline) { return timeline->several; }

const sl_stream_note *sl__timeline_note(const sl_timeline *timeline, uint32_t id)
{
    size_t at = note_place(timeline, id);
    bool found = at < timeline->n_streams && timeline->streams[at].id == id;
    return found ? &timeline->streams[at] : NULL;
}

int64_t sl_timeline_host_start_ns(const sl_timeline *timeline) { return timeline->host_start_ns; }

int64_t sl__timeline_first_ns(const sl_timeline *timeline) { return timeline->first_ns; }

int64_t sl_timeline_makespan_ns(const sl_timeline *timeline)
{
    return timeline->last_ns - timeline->first_ns;
}

int64_t sl_timeline_wall_ns(const sl_timeline *timeline)
{
    return timeline->host_end_ns - timeline->host_start_ns;
}
