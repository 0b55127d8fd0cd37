/* spool_streams.c - the contexts and streams of a recorded process, by numbers of their own. */
#include "spool_streams.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "kineto.h"

#define MOST_CONTEXTS 4096 /* each stream looks for its own among them */
#define MOST_NTH 127
#define MOST_NAMED 64 /* streams of a process */

#define ADD(s, list, item, err)                                                                    \
    sl__records_add((void **)&(s)->list, &(s)->n_##list, &(s)->cap_##list, (item), sizeof *(item), \
                    (err))

/* ---- contexts ---- */

static sl__spool_context *find(const sl__spool_streams *s, uint32_t id)
{
    for (size_t i = s->n_contexts; i-- > 0;)
        if (s->contexts[i].id == id) return &s->contexts[i];
    return NULL;
}

sl_status sl__spool_context_add(sl__spool_streams *s, const spool_context *context, sl_error *err)
{
    const bool has_null = context->null_stream != 0 && context->null_stream != SPOOL_NONE;
    const sl__spool_context added = {
        .id = context->context,
        .device = context->device,
        .null_stream = has_null ? context->null_stream : SL__FIRST_STREAM,
    };
    sl__spool_context *known = find(s, added.id);
    if (known) *known = added;
    if (known || s->n_contexts == MOST_CONTEXTS) return SL_OK;
    return ADD(s, contexts, &added, err);
}

sl_status sl__spool_stream_add(sl__spool_streams *s, const spool_stream *stream, sl_error *err)
{
    return ADD(s, made, stream, err);
}

uint32_t sl__spool_device(const sl__spool_streams *s, uint32_t context)
{
    const sl__spool_context *found = find(s, context);
    return found ? found->device : 0;
}

/* How many come before each on its GPU. */
static void count_contexts(sl__spool_streams *s)
{
    for (size_t i = 0; i < s->n_contexts; i++) {
        s->contexts[i].nth = 0;
        for (size_t k = i; k-- > 0 && s->contexts[i].nth == 0;)
            if (s->contexts[k].device == s->contexts[i].device)
                s->contexts[i].nth = s->contexts[k].nth + 1;
        if (s->contexts[i].nth > MOST_NTH) s->contexts[i].nth = MOST_NTH;
    }
}

/* ---- numbers ---- */

static int64_t number_of(const sl__spool_streams *s, const sl__spool_context *context,
                         uint32_t stream)
{
    const uint64_t process = s->process << SL__PROCESS_BITS;
    const bool is_small = stream >> SL__CONTEXT_BITS == 0;
    const uint64_t nth = context && is_small ? context->nth : 0;
    return (int64_t)(process | nth << SL__CONTEXT_BITS | stream);
}

int64_t sl__spool_stream(const sl__spool_streams *s, uint32_t context, uint32_t stream)
{
    return stream == SPOOL_NONE ? SL__NO_STREAM : number_of(s, find(s, context), stream);
}

int64_t sl__spool_null_stream(const sl__spool_streams *s, uint32_t context)
{
    const sl__spool_context *found = find(s, context);
    if (s->process == 0 && (!found || found->nth == 0)) return SL__NO_STREAM;
    return number_of(s, found, found ? found->null_stream : SL__FIRST_STREAM);
}

/* ---- all together ---- */

/* Works of one context mostly follow each other. */
static void number_works(const sl__spool_streams *s, sl__records *records, size_t first_work)
{
    const sl__spool_context *last = NULL;
    for (size_t i = first_work; i < records->n_works; i++) {
        sl__work *work = &records->works[i];
        if (work->process != s->process) continue;
        if (!last || last->id != work->context) last = find(s, work->context);
        work->stream = number_of(s, last, (uint32_t)work->stream);
    }
}

static sl_status add_facts(const sl__spool_streams *s, sl__records *records, sl_error *err)
{
    enum { NON_BLOCKING = 2, NULL_STREAM }; /* CUPTI_ACTIVITY_STREAM_CREATE_FLAG_... */
    sl_status status = SL_OK;
    for (size_t i = 0; i < s->n_made && status == SL_OK; i++) {
        const spool_stream *stream = &s->made[i];
        const sl__stream_fact fact = { .number = sl__spool_stream(s, stream->context,
                                                                  stream->stream),
                                       .device = sl__spool_device(s, stream->context),
                                       .priority = stream->priority,
                                       .non_blocking = stream->flag == NON_BLOCKING,
                                       .is_null = stream->flag == NULL_STREAM };
        status = SL__RECORDS_ADD(records, facts, &fact, err);
    }
    for (size_t i = 0; i < s->n_contexts && status == SL_OK; i++) {
        const sl__spool_context *context = &s->contexts[i];
        const sl__stream_fact fact = { .number = number_of(s, context, context->null_stream),
                                       .device = context->device,
                                       .is_null = true };
        status = SL__RECORDS_ADD(records, facts, &fact, err);
    }
    return status;
}

static sl_status name_stream(const sl__work *work, sl__records *records, uint32_t pid,
                             sl_error *err)
{
    char name[96], of[32] = "", context[32] = "";
    const uint32_t nth = (uint32_t)work->stream >> SL__CONTEXT_BITS;
    if (pid) snprintf(of, sizeof of, "%" PRIu32 " ", pid);
    if (nth > 0) snprintf(context, sizeof context, " (context %" PRIu32 ")", nth + 1);
    snprintf(name, sizeof name, "%sstream %" PRId64 "%s", of, sl__shown_stream(work->stream),
             context);
    sl__thread row = { .pid = work->device, .tid = work->stream };
    sl_status status = sl_timeline_intern(records->timeline, name, &row.name, err);
    return status == SL_OK ? SL__RECORDS_ADD(records, threads, &row, err) : status;
}

/* Several processes, or contexts, have streams of the same numbers. The program's name would leave
 * a label of a chart no room for the number of the process. */
static sl_status name_streams(const sl__spool_streams *s, sl__records *records, size_t first_work,
                              uint32_t pid, sl_error *err)
{
    const size_t first = records->n_threads;
    sl_status status = SL_OK;
    for (size_t i = first_work; i < records->n_works && status == SL_OK; i++) {
        const sl__work *work = &records->works[i];
        size_t at = records->n_threads;
        const bool is_plain = pid == 0 && (uint32_t)work->stream >> SL__CONTEXT_BITS == 0;
        if (work->process != s->process || is_plain) continue;
        while (at > first
               && (records->threads[at - 1].tid != work->stream
                   || records->threads[at - 1].pid != work->device))
            at--;
        if (at == first && records->n_threads - first < MOST_NAMED)
            status = name_stream(work, records, pid, err);
    }
    return status;
}

sl_status sl__spool_streams_settle(sl__spool_streams *s, sl__records *records, size_t first_work,
                                   uint32_t pid, sl_error *err)
{
    count_contexts(s);
    number_works(s, records, first_work);
    sl_status status = add_facts(s, records, err);
    return status == SL_OK ? name_streams(s, records, first_work, pid, err) : status;
}

void sl__spool_streams_free(sl__spool_streams *s)
{
    free(s->contexts);
    free(s->made);
}
