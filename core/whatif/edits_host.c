/* edits_host.c - changes of what the host does: its calls, its waits, its time between calls. */
#include <stdlib.h>

#include "../base.h"
#include "edits_change.h"

/* Assumed: chosen so that recorded pairs come out (docs/results/whatif.md). */
#define GRAPH_CALL_NS 8000    /* of one launch of a graph */
#define GRAPH_FOLLOW_NS 100   /* from a node to the next */
#define GRAPH_PAUSE_NS 500000 /* a longer one is no part of what issues */
#define LONG_PAUSE_NS SL__SHORT_PAUSE_NS
/* Times what is usual before a call: */
#define WAKING 3     /* behind a wait the host looks at what it waited for, and is slow at first; */
#define FAR_LONGER 3 /* before a line, it does work of its own for it */

/* The host does that much less before a call: half of it may stay, and so much more go. */
static void shorten_pause(sl__step *step, int64_t ns, int64_t more_ns)
{
    ns = sl__max(0, sl__min(ns, step->pause_ns));
    step->pause_ns -= ns;
    step->pause_more_ns += ns / 2;
    step->pause_less_ns = sl__min(step->pause_ns, step->pause_less_ns + more_ns);
}

static int64_t usual_ns(const sl__change *c, const sl__step *step)
{
    return c->p->usual_pause_ns[step->issue.thread];
}

static void stop_waiting(sl__change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    const bool waited = step->awaits != SL__AWAITS_NOTHING;
    step->awaits = SL__AWAITS_NOTHING;
    step->issue.waits = false;
    step->call_ns = sl__min(step->call_ns, SL__CALL_NS);
    step->return_ns = 0;
    if (!waited || c->next[i] == SL__NO_STEP) return;
    sl__step *next = &c->p->steps[c->next[i]];
    const int64_t ns = usual_ns(c, next);
    shorten_pause(next, WAKING * ns, WAKING * ns);
}

void sl__drop_call(sl__change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    stop_waiting(c, i);
    step->call_ns = step->recording_ns = 0;
    shorten_pause(step, usual_ns(c, step), usual_ns(c, step));
}

/* The synchronisation right behind a copy waits for the copy: PyTorch copies so. */
uint32_t sl__sync_behind(const sl__change *c, uint32_t i)
{
    const uint32_t next = c->next[i];
    if (next == SL__NO_STEP) return SL__NO_STEP;
    const sl__step *step = &c->p->steps[i], *sync = &c->p->steps[next];
    const bool is_its = sync->issue.kind == SL__ISSUE_STREAM_SYNC && sync->awaits == SL__AWAITS_RULE
                        && sync->issue.lane == step->issue.lane && sync->pause_ns < LONG_PAUSE_NS;
    return is_its ? next : SL__NO_STEP;
}

bool sl__edit_drop_sync(sl__change *c, uint32_t i)
{
    sl__drop_call(c, i);
    return true;
}

static uint32_t line_of(const sl__change *c, uint32_t i)
{
    const sl_call *call = sl__item_call(c->p->ops, i);
    return call ? call->where : sl__span_of(c, i)->where;
}

/* It stays, and is of the same line. */
static bool keeps_line(const sl__change *c, uint32_t i, uint32_t other)
{
    return other != SL__NO_STEP && !c->chosen[other] && line_of(c, other) == line_of(c, i);
}

/* The time before a call that only launches is all for it. A longer one is for something else,
 * unless its line makes no other calls: then it is for that line, but for what is usual before a
 * line; and where it is far longer than that, all of it is. */
static void remove_pause(sl__change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    const int64_t ns = step->pause_ns, line_ns = c->p->line_pause_ns[step->issue.thread];
    const bool of_line = line_of(c, i) != 0 && !keeps_line(c, i, c->previous[i])
                         && !keeps_line(c, i, c->next[i]);
    if (ns < LONG_PAUSE_NS)
        shorten_pause(step, ns, 0);
    else if (of_line)
        shorten_pause(step, ns > FAR_LONGER * line_ns ? ns : ns - line_ns, ns);
}

/* A stream that waited for an event does no longer. What waits for a record that is gone waits for
 * what came before that. */
bool sl__edit_remove(sl__change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    if (step->issue.kind == SL__ISSUE_WAIT) sl__edit_drop_wait(c, i);
    const uint32_t sync = sl__span_of(c, i) ? sl__sync_behind(c, i) : SL__NO_STEP;
    if (step->has_call) {
        remove_pause(c, i);
        sl__drop_call(c, i);
    }
    if (sync != SL__NO_STEP) sl__drop_call(c, sync);
    step->submit_ns = step->follow_ns = 0;
    step->work_ns = step->work_less_ns = step->work_more_ns = 0;
    step->is_removed = true;
    return true;
}

/* From and to pageable memory all copies block. */
bool sl__edit_non_blocking(sl__change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    if (sl__span_is_pageable(sl__span_of(c, i)) && !step->is_pinned) return false;
    const uint32_t sync = sl__sync_behind(c, i);
    const bool waited = step->awaits != SL__AWAITS_NOTHING || sync != SL__NO_STEP;
    stop_waiting(c, i);
    if (sync != SL__NO_STEP) sl__drop_call(c, sync);
    return waited;
}

/* The first call of a run launches all; the others cost the host nothing, and follow each other. */
bool sl__edit_graph(sl__change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    uint32_t *last = &c->last[step->issue.thread];
    if (!step->has_call || step->awaits != SL__AWAITS_NOTHING) return false;
    const bool is_first = *last == SL__NO_STEP || step->pause_ns >= GRAPH_PAUSE_NS;
    if (is_first) {
        *last = i;
        step->call_ns = sl__max(step->call_ns, GRAPH_CALL_NS);
    } else {
        sl__drop_call(c, i);
        step->pause_ns = step->pause_less_ns = step->pause_more_ns = 0;
    }
    step->follow_ns = sl__min(step->follow_ns, GRAPH_FOLLOW_NS);
    return true;
}

void sl__end_graph(sl__change *c, uint32_t i)
{
    const sl__step *step = &c->p->steps[i];
    if (step->has_call && step->awaits != SL__AWAITS_NOTHING)
        c->last[step->issue.thread] = SL__NO_STEP;
}

/* Those that neither submit work nor wait: of memory, of events. What comes before a copy's call
 * since the last work is for the copy. */
void sl__pass_call(sl__change *c, uint32_t i)
{
    const sl__step *step = &c->p->steps[i];
    uint32_t *first = &c->last[step->issue.thread];
    if (!step->has_call) return;
    if (step->is_span || step->issue.kind == SL__ISSUE_WAIT || step->awaits != SL__AWAITS_NOTHING)
        *first = SL__NO_STEP;
    else if (*first == SL__NO_STEP)
        *first = i;
}

bool sl__edit_threads(sl__change *c, uint32_t i)
{
    const uint32_t thread = c->p->steps[i].issue.thread;
    if (!c->p->steps[i].has_call) return false;
    for (uint32_t k = sl__min(c->last[thread], i); k <= i; k++) {
        sl__step *step = &c->p->steps[k];
        step->is_helped |= step->has_call && step->issue.thread == thread;
    }
    c->last[thread] = SL__NO_STEP;
    return true;
}

typedef struct turns {
    int64_t passed_ns; /* of calls that a thread makes along with one that was chosen, if one is */
    int64_t helped_ns; /* of a thread, since the host's own last call */
} turns;

/* Two threads of Python have one lock: at worst the one waits while the other works. */
sl_status sl__take_turns(sl__change *c, sl_error *err)
{
    turns *of = calloc(c->p->ops->n_threads + 1, sizeof *of);
    if (!of) return sl__no_memory(err, "a change of %zu steps", c->p->n);
    for (uint32_t i = 0; i < c->p->n; i++) {
        sl__step *step = &c->p->steps[i];
        turns *t = &of[step->issue.thread];
        if (!step->has_call) continue;
        t->passed_ns += step->pause_ns;
        if (step->is_helped && c->chosen[i]) {
            t->helped_ns += t->passed_ns;
            t->passed_ns = 0;
        } else if (!step->is_helped) {
            step->pause_more_ns += t->helped_ns;
            *t = (turns){ 0 };
        }
    }
    free(of);
    return SL_OK;
}

/* What is too long for a program is refused when all of it has changed. */
static int64_t scaled_ns(int64_t ns, double factor)
{
    return (int64_t)sl__min((double)ns * factor, (double)SL__TIME_LIMIT_NS);
}

bool sl__edit_host_scale(sl__change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    if (!step->has_call) return false;
    step->pause_ns = scaled_ns(step->pause_ns, c->number);
    step->pause_less_ns = scaled_ns(step->pause_less_ns, c->number);
    step->pause_more_ns = scaled_ns(step->pause_more_ns, c->number);
    step->call_ns = scaled_ns(step->call_ns, c->number);
    step->recording_ns = scaled_ns(step->recording_ns, c->number);
    return true;
}
