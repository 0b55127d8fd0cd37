/* replay.c - the recorded schedule, played again without some of its waits.
 *
 * Each item has up to four times: its call's beginning and end on the host, its start and end
 * on the device. They are taken in the order in which they were recorded, so that whatever
 * held a time was taken before it:
 *   - a call begins a recorded pause behind the end of the last call;
 *   - it ends when it has done its own part, and what it waits for has happened;
 *   - an operation starts when its call is done (if it began before that, when the call is as far
 *     as then, sl__submitted_ns), and its stream, the events and the engine let it. An engine
 *     serves its operations in the recorded order, kernels only those that fill the GPU: so those
 *     that ran side by side still may, and more. A kernel that fills the GPU follows smaller ones
 *     as well where nothing else explains its start; beside one it has fewer SMs;
 *   - it ends as long after its start as was recorded.
 * A first pass over the recorded times finds the delays of each item: the delay behind what
 * held it last is as it was recorded, and that behind all else as short as is usual. Each
 * later pass is played with these, and without what is left out of it.
 *
 * Linear once the times are in order. Not played: the launch queue's depth, and more overlap
 * of kernels that fill the GPU than was recorded.
 */
#include <stdlib.h>

#include "../timeline/store.h"
#include "as_graphs.h"
#include "replay_pass.h"

#define CALL_NS 4000   /* of a call that has nothing to wait for */
#define SUBMIT_NS 4000 /* from a call's end to the start, of an idle stream */
#define FOLLOW_NS 1000 /* from one operation to the next of its stream */
#define SLACK_NS 3000  /* twice what one kernel takes to follow another */
#define NEVER SL__NEVER

typedef sl__pass pass;

static int place_of(const pass *p, size_t i) { return sl__item_place(p->r->ops, i); }

/* ---- the host ------------------------------------------------------------------- */

static void begin_pause(pass *p, size_t i)
{
    const sl__item *item = sl__pass_item(p, i);
    sl__played *played = &p->r->played[i];
    const size_t caller = p->r->callers[item->issue.thread];
    played->host_start_ns = item->host_start_ns;
    if (caller == SL__NO_ITEM) return;
    int64_t pause_ns = item->host_start_ns - sl__pass_item(p, caller)->host_end_ns;
    bool skipped = (sl__pass_left_out(p, caller) & SL__NO_PAUSE)
                   || (pause_ns < SL__SHORT_PAUSE_NS && sl__pass_left_out(p, i) & SL__NO_ISSUE);
    played->host_start_ns = p->r->played[caller].host_end_ns + (skipped ? 0 : pause_ns);
}

static void begin_call(pass *p, size_t i)
{
    begin_pause(p, i);
    p->r->played[i].host_end_ns = NEVER; /* not known yet */
    if (sl__graphs_have(p->graphs, i)) sl__graphs_call(p, i);
}

/* A copy's call that goes on while the copy runs, and waits for it. */
static bool waits_for_itself(const pass *p, size_t i, const sl_span *span)
{
    const sl__item *item = sl__pass_item(p, i);
    bool within = item->start_ns >= item->host_start_ns && item->start_ns < item->host_end_ns;
    return span && within && (span->flags & SL_SPAN_HOST_WAITED || sl__span_is_pageable(span));
}

/* An allocation, or work of the host, can be moved elsewhere; other calls cannot, as launches of
 * graphs. */
static int64_t unheld_call_ns(const pass *p, size_t i)
{
    const sl_call *call = sl__item_call(p->r->ops, i);
    bool is_gone = call && (call->kind == SL_CALL_PLAIN || call->kind == SL_CALL_HOST_WORK);
    if (sl__launch_by(p->r->ops, i)) is_gone = false;
    return is_gone ? 0 : sl__min(p->r->delays[i].call_ns, CALL_NS);
}

static void learn_call(pass *p, size_t i, int64_t awaited_ns)
{
    const sl__item *item = sl__pass_item(p, i);
    sl__delays *delays = &p->r->delays[i];
    delays->call_ns = item->host_end_ns - item->host_start_ns;
    delays->return_ns = 0;
    if (awaited_ns > item->host_start_ns && awaited_ns <= item->host_end_ns) {
        delays->call_ns = sl__min(delays->call_ns, CALL_NS);
        delays->return_ns = item->host_end_ns - awaited_ns;
    }
}

/* Of a copy its start, since how long the copy then takes is known. */
static int64_t awaited_in_call(const pass *p, size_t i)
{
    bool by_itself = waits_for_itself(p, i, sl__item_span(p->r->ops, i));
    return by_itself ? p->r->played[i].start_ns : sl__pass_awaited_ns(p, i);
}

/* The end of a call that has begun. Where its operation begins before that, it is known by then:
 * what the call waits for has happened. */
static int64_t settle_call(pass *p, size_t i)
{
    sl__played *played = &p->r->played[i];
    const sl__delays *delays = &p->r->delays[i];
    if (played->host_end_ns != NEVER) return played->host_end_ns;
    int64_t awaited_ns = awaited_in_call(p, i);
    if (!p->left_out) learn_call(p, i, awaited_ns);
    if (sl__pass_left_out(p, i) & SL__NO_ISSUE)
        played->host_end_ns = played->host_start_ns;
    else if (sl__pass_left_out(p, i) & SL__NO_CALL)
        played->host_end_ns = played->host_start_ns + unheld_call_ns(p, i);
    else
        played->host_end_ns = played->host_start_ns + delays->call_ns;
    if (awaited_ns != NEVER && !(sl__pass_left_out(p, i) & (SL__NO_CALL | SL__NO_ISSUE)))
        played->host_end_ns = sl__max(played->host_end_ns, awaited_ns + delays->return_ns);
    return played->host_end_ns;
}

static void end_call(pass *p, size_t i)
{
    const sl__item *item = sl__pass_item(p, i);
    if (item->host_end_ns <= item->host_start_ns) begin_call(p, i);
    p->r->callers[item->issue.thread] = i;
    settle_call(p, i);
}

/* ---- the device ------------------------------------------------------------------ */

/* Then its end has been played: at the same moment, the one issued first comes first. */
static bool ended_before(const pass *p, size_t i, size_t by)
{
    if (by == SL__NO_ITEM || sl__pass_item(p, by)->end_ns > sl__pass_item(p, i)->start_ns)
        return false;
    return sl__pass_item(p, by)->start_ns < sl__pass_item(p, i)->start_ns
           || (by < i && sl__pass_item(p, by)->start_ns == sl__pass_item(p, i)->start_ns);
}

/* What another item's end made possible, if it had ended when this one started. */
static int64_t end_of(const pass *p, size_t i, size_t by)
{
    return ended_before(p, i, by) ? p->r->played[by].end_ns : NEVER;
}

/* The same of its start: then it leaves the hardware channel. */
static int64_t start_of(const pass *p, size_t i, size_t by)
{
    bool known = by != SL__NO_ITEM && by < i
                 && sl__pass_item(p, by)->start_ns <= sl__pass_item(p, i)->start_ns;
    return known ? p->r->played[by].start_ns : NEVER;
}

/* Of one that started while the one before it in its stream still ran (programmatic dependent
 * launch): they run beside each other for no longer than was recorded. */
static int64_t held_by_overlap(const pass *p, size_t i)
{
    const sl__item *item = sl__pass_item(p, i);
    if (sl__pass_left_out(p, i) & (SL__NO_STREAM | SL__NO_LAST) || item->before == SL__NO_ITEM)
        return NEVER;
    const sl__item *before = sl__pass_item(p, item->before);
    bool beside = before->start_ns <= item->start_ns && before->end_ns > item->start_ns;
    return beside ? p->r->played[item->before].end_ns - (before->end_ns - item->start_ns) : NEVER;
}

/* By an event that was guessed, or a value: the order of issue does not say who wrote it. */
static int64_t held_by_guess(pass *p, size_t i)
{
    const sl__item *item = sl__pass_item(p, i);
    const bool waits = item->ready_cause == SL_CAUSE_EVENT || item->ready_cause == SL_CAUSE_VALUE;
    if (!waits || sl__pass_left_out(p, i) & SL__NO_EVENT) return NEVER;
    int64_t ns = end_of(p, i, item->ready_by);
    sl__pass_note_event(p, i, ns);
    return ns;
}

/* What kept it from starting though it was ready: its engine, the room on the SMs, its channel. */
static int64_t held_at_start(const pass *p, size_t i)
{
    const sl__item *item = sl__pass_item(p, i);
    size_t by = item->start_by;
    unsigned no = item->start_cause == SL_CAUSE_CHANNEL ? SL__NO_CHANNEL : SL__NO_ENGINE;
    if (by == SL__NO_ITEM || sl__pass_left_out(p, i) & no
        || sl__pass_item(p, by)->start_ns >= item->start_ns)
        return NEVER;
    int64_t early_ns = sl__max(0, sl__pass_item(p, by)->end_ns - item->start_ns);
    return p->r->played[by].end_ns - early_ns;
}

static int64_t held_by_channel(const pass *p, size_t i)
{
    const sl__item *item = sl__pass_item(p, i);
    bool holds = item->ready_cause == SL_CAUSE_CHANNEL
                 && !(sl__pass_left_out(p, i) & SL__NO_CHANNEL);
    return holds ? start_of(p, i, item->ready_by) : NEVER;
}

/* All but its call and its engine: the rules of streams, and what the holds name beyond these. */
static int64_t free_ns(pass *p, size_t i)
{
    int64_t ns = sl__max(sl__pass_behind_ns(p, i), held_by_overlap(p, i));
    ns = sl__max(ns, held_by_guess(p, i));
    return sl__max(ns, sl__max(held_by_channel(p, i), held_at_start(p, i)));
}

static int64_t held_by_engine(const pass *p, size_t i)
{
    const sl_span *span = sl__item_span(p->r->ops, i);
    if (!span || sl__pass_left_out(p, i) & SL__NO_ENGINE) return NEVER;
    int place = place_of(p, i);
    bool follows_all = span->engine != SL_ENGINE_COMPUTE || p->r->delays[i].follows_all;
    return follows_all ? p->of[place].engine_ns[span->engine] : p->of[place].full_ns;
}

/* A kernel that fills the GPU may start beside smaller ones. Where only the end of one of these
 * explains when it was recorded to start, it needed their room. */
static void learn_engine(const pass *p, size_t i, int64_t submitted_ns, int64_t free_ns)
{
    const sl_span *span = sl__item_span(p->r->ops, i);
    if (!span || span->engine != SL_ENGINE_COMPUTE || !sl__fills_gpu(p->r->ops->timeline, span))
        return;
    int64_t explained_ns = sl__max(submitted_ns == NEVER ? NEVER : submitted_ns + SUBMIT_NS,
                                   free_ns == NEVER ? NEVER : free_ns + SLACK_NS);
    int64_t engine_ns = p->of[place_of(p, i)].engine_ns[SL_ENGINE_COMPUTE];
    p->r->delays[i].follows_all = explained_ns < sl__pass_item(p, i)->start_ns && engine_ns != NEVER
                                  && engine_ns + SLACK_NS > explained_ns;
}

/* Of an operation that begins before its call has ended. */
static int64_t submitted_in_call(pass *p, size_t i)
{
    size_t submitter = sl__submitter_of(p->r->ops, i);
    if (!sl__begins_at_call_end(p->r->ops, i)) return p->r->played[i].host_start_ns;
    return sl__max(p->r->played[submitter].host_start_ns,
                   settle_call(p, submitter) - SL__CALL_END_NS);
}

/* Where the recorded times contradict that the call came first, nothing waits for it. */
static int64_t submitted(pass *p, size_t i)
{
    const sl__item *item = sl__pass_item(p, i),
                   *submitter = sl__pass_item(p, sl__submitter_of(p->r->ops, i));
    if (item->start_ns >= submitter->host_end_ns) return p->r->played[i].host_end_ns;
    return item->start_ns >= submitter->host_start_ns ? submitted_in_call(p, i) : NEVER;
}

static int64_t delay_ns(int64_t from_ns, int64_t to_ns)
{
    return from_ns == NEVER ? 0 : to_ns - from_ns;
}

static void learn_start(pass *p, size_t i, int64_t submitted_ns, int64_t free_ns)
{
    const sl__item *item = sl__pass_item(p, i);
    sl__delays *delays = &p->r->delays[i];
    delays->submit_ns = delay_ns(submitted_ns, item->start_ns);
    delays->follow_ns = delay_ns(free_ns, item->start_ns);
    if (submitted_ns == NEVER || free_ns == NEVER) return;
    if (submitted_ns + SUBMIT_NS >= free_ns + FOLLOW_NS)
        delays->follow_ns = sl__min(delays->follow_ns, FOLLOW_NS);
    else
        delays->submit_ns = sl__min(delays->submit_ns, SUBMIT_NS);
}

/* A copy that was from or to pageable memory, and now is played as if that were pinned. */
static bool is_pinned_now(const pass *p, const sl_span *span, size_t i)
{
    return span && sl__pass_left_out(p, i) & SL__NO_CALL && sl__span_is_pageable(span);
}

/* A node that started while the call of its graph's first launch went on, which is played as if the
 * graph had been uploaded before. */
static bool is_uploaded_now(const pass *p, size_t i)
{
    const sl__launch *launch = sl__launch_of(p->r->ops, i);
    return launch && launch->call != SL__NO_ITEM && launch->note->uploads
           && sl__pass_left_out(p, launch->call) & SL__NO_CALL
           && sl__pass_item(p, i)->start_ns < sl__pass_item(p, launch->call)->host_end_ns;
}

/* Of a collective, until the last rank came. */
static int64_t waited_for_rank_ns(const pass *p, size_t i)
{
    const sl__item *item = sl__pass_item(p, i);
    const sl_collective_note *note = sl_timeline_find_collective(p->r->ops->timeline,
                                                                 item->correlation);
    return note ? sl__max(0, note->met_ns - item->start_ns) : 0;
}

static int64_t length_ns(const pass *p, size_t i)
{
    const sl__item *item = sl__pass_item(p, i);
    const sl_span *span = sl__item_span(p->r->ops, i);
    int64_t ns = item->end_ns - item->start_ns;
    if (is_pinned_now(p, span, i)) return sl__pinned_ns(&p->r->pinned, span);
    return sl__pass_left_out(p, i) & SL__NO_RANK ? ns - waited_for_rank_ns(p, i) : ns;
}

static void end(pass *p, size_t i)
{
    const sl_span *span = sl__item_span(p->r->ops, i);
    int64_t ns = p->r->played[i].end_ns;
    sl__pass_put(p, i);
    if (!span) return;
    int k = place_of(p, i);
    p->of[k].engine_ns[span->engine] = sl__max(p->of[k].engine_ns[span->engine], ns);
    if (span->engine != SL_ENGINE_COMPUTE || span->kind != SL_SPAN_KERNEL) return;
    if (sl__fills_gpu(p->r->ops->timeline, span))
        p->of[k].full_ns = sl__max(p->of[k].full_ns, ns);
    else if (p->of[k].small == SL__NO_ITEM || p->r->played[p->of[k].small].end_ns <= ns)
        p->of[k].small = i;
}

/* Graphs have no channels. */
static int64_t held_in_graph(const pass *p, size_t i)
{
    int64_t ns = held_by_engine(p, i);
    return sl__pass_item(p, i)->start_cause == SL_CAUSE_CHANNEL ? ns
                                                                : sl__max(ns, held_at_start(p, i));
}

static int64_t start_ns(pass *p, size_t i)
{
    const sl__item *item = sl__pass_item(p, i);
    const sl__delays *delays = &p->r->delays[i];
    int64_t submitted_ns = submitted(p, i);
    int64_t free = free_ns(p, i);
    if (!p->left_out) learn_engine(p, i, submitted_ns, sl__max(free, held_by_engine(p, i)));
    free = sl__max(free, held_by_engine(p, i));
    if (!p->left_out) learn_start(p, i, submitted_ns, free);
    bool at_once = sl__pass_left_out(p, i) & SL__NO_LATENCY;
    int64_t submit_ns = at_once ? 0 : delays->submit_ns;
    int64_t follow_ns = at_once ? 0 : delays->follow_ns;
    if (sl__pass_left_out(p, i) & SL__NO_CALL
        && waits_for_itself(p, i, sl__item_span(p->r->ops, i)))
        submit_ns = sl__min(submit_ns, CALL_NS + SUBMIT_NS); /* what else the call did is gone */
    bool is_uploaded = is_uploaded_now(p, i);
    if (is_uploaded) submit_ns = sl__min(submit_ns, CALL_NS + SUBMIT_NS);
    if (is_uploaded || is_pinned_now(p, sl__item_span(p->r->ops, i), i))
        follow_ns = sl__min(follow_ns, FOLLOW_NS);
    int64_t ns = submitted_ns == NEVER && free == NEVER ? item->start_ns : NEVER;
    if (submitted_ns != NEVER) ns = submitted_ns + submit_ns;
    return free != NEVER ? sl__max(ns, free + follow_ns) : ns;
}

/* Of a collective that begins with its part: issued right behind that part's last kernel. */
static int64_t start_by_part_ns(const pass *p, size_t i)
{
    int place = place_of(p, i);
    int64_t part_ns = p->r->played[p->r->parts[i]].end_ns + p->of[place].squeezed_ns;
    return sl__max(part_ns, p->of[place].engine_ns[SL_ENGINE_COMM]) + p->r->delays[i].follow_ns;
}

static void start(pass *p, size_t i)
{
    const sl__item *item = sl__pass_item(p, i);
    sl__played *played = &p->r->played[i];
    bool by_part = sl__pass_left_out(p, i) & SL__BY_PART && p->r->parts[i] != SL__NO_ITEM;
    sl__pass_rule(p, i);
    played->start_ns = sl__graphs_have(p->graphs, i)
                           ? sl__graphs_start_ns(p, i, held_in_graph(p, i))
                       : by_part ? start_by_part_ns(p, i)
                                 : start_ns(p, i);
    int64_t ns = length_ns(p, i);
    played->end_ns = played->start_ns + ns;
    played->end_ns += sl__slowed_ns(p, i, ns);
    if (by_part) sl__squeeze(p, i);
    const sl_span *span = sl__item_span(p->r->ops, i);
    if (span && span->engine == SL_ENGINE_COMM) p->of[place_of(p, i)].collective = i;
    if (!item->is_call) {
        p->first_ns = sl__min(p->first_ns, played->start_ns);
        p->last_ns = sl__max(p->last_ns, played->end_ns);
    }
    if (item->end_ns <= item->start_ns) end(p, i);
}

static void begin_devices(pass *p)
{
    for (int k = 0; k < sl_timeline_device_count(p->r->ops->timeline); k++) {
        p->of[k].full_ns = NEVER;
        p->of[k].collective = SL__NO_ITEM;
        p->of[k].squeezed_ns = 0;
        for (int engine = 0; engine < SL_ENGINES; engine++)
            p->of[k].engine_ns[engine] = NEVER;
        p->of[k].small = SL__NO_ITEM;
    }
}

/* ---- passes ------------------------------------------------------------------------ */

int64_t sl__replay_makespan_ns(sl__replay *r, const uint16_t *left_out)
{
    return sl__replay_with_graphs_ns(r, left_out, NULL);
}

int64_t sl__replay_with_graphs_ns(sl__replay *r, const uint16_t *left_out, sl__graphs *graphs)
{
    pass p = {
        .r = r,
        .left_out = left_out,
        .graphs = graphs,
        .first_ns = INT64_MAX,
        .last_ns = NEVER,
    };
    begin_devices(&p);
    for (uint32_t thread = 0; thread < r->ops->n_threads; thread++)
        r->callers[thread] = SL__NO_ITEM;
    sl__pass_begin_streams(&p);
    for (size_t k = 0; k < r->n_steps && !sl__stops_at(k); k++) {
        size_t i = (size_t)(r->steps[k] / SL__PLAYED_TIMES);
        switch (r->steps[k] % SL__PLAYED_TIMES) {
        case SL__AT_END: end(&p, i); break;
        case SL__AT_HOST_END: end_call(&p, i); break;
        case SL__AT_HOST_START: begin_call(&p, i); break;
        case SL__AT_START: start(&p, i); break;
        }
    }
    return p.last_ns > p.first_ns ? p.last_ns - p.first_ns : 0;
}

/* ---- opening ------------------------------------------------------------------------- */

/* What recording took of a call: a replay is of the program without its recorder. */
static void take_off_recording(sl__replay *replay)
{
    for (size_t i = 0; i < replay->ops->n; i++) {
        const int64_t ns = sl__recording_cost_ns(replay->ops, i);
        sl__delays *delays = &replay->delays[i];
        delays->call_ns = sl__max(0, delays->call_ns - ns);
        delays->return_ns = sl__max(0, delays->return_ns - ns);
    }
}

sl_status sl__replay_open(const sl__operations *ops, sl__replay *replay, sl_error *err)
{
    *replay = (sl__replay){ .ops = ops };
    replay->played = calloc(ops->n + 1, sizeof *replay->played);
    replay->delays = calloc(ops->n + 1, sizeof *replay->delays);
    replay->streams = calloc(ops->rules.lanes.n + 1, sizeof *replay->streams);
    replay->callers = calloc(ops->n_threads, sizeof *replay->callers);
    sl_status status = SL_OK;
    if (!replay->played || !replay->delays || !replay->streams || !replay->callers)
        status = sl__no_memory(err, "the replay of %zu operations", ops->n);
    if (status == SL_OK) status = sl__replay_put_in_order(replay, err);
    if (status == SL_OK) status = sl__board_open(&ops->rules, &replay->board, err);
    if (status == SL_OK) {
        replay->pinned = sl__pinned_find(ops->timeline);
        sl__replay_makespan_ns(replay, NULL);
        take_off_recording(replay);
        status = sl_interrupt_check(err);
    }
    if (status != SL_OK) sl__replay_close(replay);
    return status;
}

void sl__replay_close(sl__replay *replay)
{
    free(replay->steps);
    free(replay->played);
    free(replay->delays);
    free(replay->streams);
    sl__board_close(&replay->board);
    free(replay->callers);
    *replay = (sl__replay){ 0 };
}
