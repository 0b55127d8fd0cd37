/* trace_streams.c - the streams of a trace, by the numbers that it gives them.
 *
 * CUPTI's 7, the default stream, is 0 in a timeline, 8 is 1, and so on. Numbers below 7
 * (other profilers have them) get the smallest ids that are free, and 0 is the default
 * stream where there is no 7.
 *
 * A stream keeps the name of its row, and where that only says its number, the number:
 * it is then called as in other viewers of the file.
 */
#include "trace_streams.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../timeline/keys.h"
#include "../timeline/overlap.h"
#include "kineto.h"

#define OVERLAP_SLACK_NS 1000 /* older traces count whole microseconds */

/* ---- numbers ----------------------------------------------------------------- */

SL__ORDER(by_number, sl__stream, x->number);

static bool take(sl__keys *numbers, int64_t number)
{
    const uint64_t key = (uint64_t)number;
    size_t at;
    if (number == SL__NO_STREAM || (numbers->n > 0 && numbers->at[numbers->n - 1] == key))
        return true;
    return sl__keys_number(numbers, &key, &at);
}

static bool take_all(const sl__records *records, sl__keys *numbers)
{
    bool fine = true;
    for (size_t i = 0; i < records->n_works && fine; i++)
        fine = take(numbers, records->works[i].stream);
    for (size_t i = 0; i < records->n_hosts && fine; i++)
        fine = take(numbers, records->hosts[i].stream)
               && take(numbers, records->hosts[i].target_stream);
    return fine;
}

/* The streams are sorted: numbers below the first come first, numbers that are too large last. Both
 * get the ids that the others leave free. */
static void give_ids(sl__streams *streams, int64_t null_stream)
{
    bool has_default = false;
    for (size_t i = 0; i < streams->n; i++)
        has_default |= streams->all[i].number == null_stream;
    int64_t next = has_default ? 1 : 0;
    size_t used = 0;
    for (size_t i = 0; i < streams->n; i++) {
        sl__stream *stream = &streams->all[i];
        int64_t id = stream->number - null_stream;
        if (id < 0 || id > UINT32_MAX) {
            if (next == 0 && stream->number != 0) next = 1;
            while (used < streams->n && streams->all[used].number - null_stream <= next)
                next += streams->all[used++].number - null_stream == next;
            id = next++;
        }
        stream->id = (uint32_t)id;
    }
}

/* Of the first process's first context. A recording says which it is. */
static int64_t null_stream_of(const sl__records *records, int64_t device)
{
    for (size_t i = 0; i < records->n_facts; i++) {
        const sl__stream_fact *fact = &records->facts[i];
        if (fact->is_null && fact->device == device && fact->number >> SL__CONTEXT_BITS == 0)
            return fact->number;
    }
    return SL__FIRST_STREAM;
}

sl_status sl__streams_collect(const sl__records *records, int64_t device, sl__streams *streams,
                              sl_error *err)
{
    sl__keys numbers = { 0 };
    if (take_all(records, &numbers)) streams->all = calloc(numbers.n + 1, sizeof *streams->all);
    for (size_t i = 0; streams->all && i < numbers.n; i++)
        streams->all[streams->n++].number = (int64_t)numbers.at[i];
    sl__keys_free(&numbers);
    if (!streams->all) return sl__no_memory(err, "the streams of a trace");
    sl__sort(streams->all, streams->n, sizeof *streams->all, by_number);
    give_ids(streams, null_stream_of(records, device));
    return SL_OK;
}

void sl__streams_free(sl__streams *streams)
{
    free(streams->all);
    *streams = (sl__streams){ 0 };
}

size_t sl__streams_find(const sl__streams *streams, int64_t number)
{
    size_t at;
    SL__SEARCH(at, streams->n, streams->all[at].number < number);
    return at;
}

/* ---- blocking ------------------------------------------------------------------ */

SL__ORDER(by_start, sl__interval, x->start_ns);

/* What the default stream did. Each end is the latest so far, so that one look-up finds whether
 * something earlier was still running at a time. */
static sl_status default_work(const sl__records *records, sl__interval **all, size_t *n,
                              sl_error *err)
{
    *n = 0;
    *all = calloc(records->n_works + 1, sizeof **all);
    if (!*all) return sl__no_memory(err, "the streams of a trace");
    for (size_t i = 0; i < records->n_works; i++) {
        const sl_span *span = &records->works[i].span;
        if (span->stream == 0) (*all)[(*n)++] = (sl__interval){ span->start_ns, span->end_ns };
    }
    sl__sort(*all, *n, sizeof **all, by_start);
    for (size_t i = 1; i < *n; i++) {
        if ((*all)[i].end_ns < (*all)[i - 1].end_ns) (*all)[i].end_ns = (*all)[i - 1].end_ns;
    }
    return SL_OK;
}

static bool overlaps(const sl__interval *all, size_t n, const sl_span *span)
{
    size_t at;
    /* the first that starts too late */
    SL__SEARCH(at, n, all[at].start_ns < span->end_ns - OVERLAP_SLACK_NS);
    return at > 0 && all[at - 1].end_ns > span->start_ns + OVERLAP_SLACK_NS;
}

static sl_status find_blocking(const sl__records *records, sl__streams *streams, sl_error *err)
{
    sl__interval *all;
    size_t n;
    sl_status status = default_work(records, &all, &n, err);
    for (size_t i = 0; i < streams->n; i++)
        streams->all[i].blocking = streams->all[i].id == 0
                                   || (!records->pytorch && !records->xla
                                       && !sl__row_of(streams->all[i].number));
    for (size_t i = 0; status == SL_OK && i < records->n_works; i++) {
        const sl__work *work = &records->works[i];
        sl__stream *stream = &streams->all[sl__streams_find(streams, work->stream)];
        if (stream->id != 0 && stream->blocking && overlaps(all, n, &work->span))
            stream->blocking = false;
    }
    free(all);
    return status;
}

/* Of recorded programs: numbers contexts from 1 on, but for that of the device's NULL stream.
 * Streams are in order of their numbers, so that those of one context follow each other. */
static void number_contexts(sl__streams *streams)
{
    int64_t last = 0;
    uint32_t context = 0;
    for (size_t i = 0; i < streams->n; i++) {
        sl__stream *stream = &streams->all[i];
        const int64_t key = stream->number >> SL__CONTEXT_BITS;
        if (sl__row_of(stream->number)) continue;
        context += key != last;
        last = key;
        stream->context = context;
        stream->is_null = context > 0 && sl__shown_stream(stream->number) == SL__FIRST_STREAM;
        if (context > 0) stream->blocking = stream->is_null;
    }
}

/* Further rows are of their stream's context. */
static void join_rows(sl__streams *streams)
{
    for (size_t i = 0; i < streams->n; i++) {
        sl__stream *row = &streams->all[i];
        if (!sl__row_of(row->number)) continue;
        const size_t at = sl__streams_find(streams, sl__row_stream(row->number));
        if (at < streams->n) row->context = streams->all[at].context;
    }
}

/* What the program itself said of its streams. */
static void apply_facts(const sl__records *records, int64_t device, sl__streams *streams)
{
    for (size_t i = 0; i < records->n_facts; i++) {
        const sl__stream_fact *fact = &records->facts[i];
        const size_t at = sl__streams_find(streams, fact->number);
        if (fact->device != device || at == streams->n || streams->all[at].number != fact->number)
            continue;
        streams->all[at].priority = fact->priority;
        if (streams->all[at].id != 0) streams->all[at].blocking = !fact->non_blocking;
        streams->all[at].is_null |= fact->is_null && streams->all[at].context > 0;
    }
}

/* ---- names ----------------------------------------------------------------------- */

sl_status sl__streams_describe(const sl__records *records, int64_t device, sl__streams *streams,
                               sl_error *err)
{
    for (size_t i = 0; i < records->n_threads; i++) {
        const sl__thread *thread = &records->threads[i];
        size_t at = sl__streams_find(streams, thread->tid);
        if (thread->pid == device && at < streams->n && streams->all[at].number == thread->tid)
            streams->all[at].name = thread->name;
    }
    for (size_t i = 0; i < records->n_works; i++) {
        const sl__work *work = &records->works[i];
        if (work->priority != 0)
            streams->all[sl__streams_find(streams, work->stream)].priority = work->priority;
    }
    sl_status status = find_blocking(records, streams, err);
    if (records->recorded && !records->own) number_contexts(streams);
    apply_facts(records, device, streams);
    join_rows(streams);
    return status;
}

static int64_t shown(const sl__records *records, int64_t number)
{
    return records->recorded ? sl__shown_stream(number) : number;
}

/* "stream 8: compute" is named compute; "stream 8 " only says its number. */
static sl_status own_name(const sl__records *records, const sl__stream *stream, sl_text *name,
                          sl_error *err)
{
    char own[32];
    int n = snprintf(own, sizeof own, "stream %" PRId64, shown(records, stream->number));
    name->len = 0;
    sl_text_add(name, "%s", sl_timeline_text(records->timeline, stream->name));
    while (name->len > 0 && name->data[name->len - 1] == ' ')
        name->data[--name->len] = '\0';
    if (name->len > (size_t)n + 2 && strncmp(name->data, own, (size_t)n) == 0
        && strncmp(name->data + n, ": ", 2) == 0) {
        name->len -= (size_t)n + 2;
        memmove(name->data, name->data + n + 2, name->len + 1);
    } else if (name->len == 0) {
        sl_text_add(name, "%s", own);
    }
    return name->failed ? sl__no_memory(err, "a stream's name") : SL_OK;
}

/* A further row has its stream's name: "stream 7 (2)". */
static sl_status name_stream(const sl__records *records, const sl__streams *streams,
                             const sl__stream *stream, sl_text *name, sl_error *err)
{
    int64_t row = sl__row_of(stream->number);
    if (row == 0) return own_name(records, stream, name, err);
    int64_t number = sl__row_stream(stream->number);
    sl__stream first = { .number = number };
    size_t at = sl__streams_find(streams, number);
    if (at < streams->n && streams->all[at].number == number) first = streams->all[at];
    sl_status status = own_name(records, &first, name, err);
    if (status != SL_OK) return status;
    sl_text_add(name, " (%" PRId64 ")", row + 1);
    return name->failed ? sl__no_memory(err, "a stream's name") : SL_OK;
}

SL__ORDER(by_id, sl_stream_note, x->id);

/* Our own header lists them. In order of id, in which adding is fastest. */
static sl_status note_own(const sl__records *records, sl_error *err)
{
    sl_status status = SL_OK;
    if (records->n_notes > 1)
        sl__sort(records->notes, records->n_notes, sizeof *records->notes, by_id);
    for (size_t i = 0; i < records->n_notes && status == SL_OK; i++)
        status = sl_timeline_add_stream(records->timeline, &records->notes[i], err);
    return status;
}

sl_status sl__streams_note(const sl__records *records, const sl__streams *streams, sl_error *err)
{
    sl_status status = SL_OK;
    sl_text name = { 0 };
    if (records->noted) return note_own(records, err);
    sl_stream_note *notes = calloc(streams->n + 1, sizeof *notes);
    if (!notes) return sl__no_memory(err, "the streams of a trace");
    for (size_t i = 0; i < streams->n && status == SL_OK; i++) {
        const sl__stream *stream = &streams->all[i];
        size_t first = sl__streams_find(streams, sl__row_stream(stream->number));
        notes[i] = (sl_stream_note){ .id = stream->id,
                                     .priority = stream->priority,
                                     .non_blocking = !stream->blocking,
                                     .numbered = true,
                                     .number = shown(records, streams->all[first].number),
                                     .is_row = streams->all[first].number != stream->number,
                                     .row_of = streams->all[first].id,
                                     .context = stream->context,
                                     .is_null = stream->is_null };
        status = name_stream(records, streams, stream, &name, err);
        if (status == SL_OK)
            status = sl_timeline_intern(records->timeline, name.data, &notes[i].name, err);
    }
    sl__sort(notes, streams->n, sizeof *notes, by_id);
    for (size_t i = 0; i < streams->n && status == SL_OK; i++)
        status = sl_timeline_add_stream(records->timeline, &notes[i], err);
    free(notes);
    sl_text_free(&name);
    return status;
}
