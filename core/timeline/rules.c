/* rules.c - what an operation comes behind, and what a call of the host waits for. */
#include "rules.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "notes.h"
#include "overlap.h"

typedef struct sl__turns { /* of one rank of a communicator */
    uint64_t comm;
    int32_t rank;
    int64_t host_start_ns, host_end_ns; /* while reading: of the call of the last one */
} turns;

/* ---- collectives ------------------------------------------------------------------ */

SL__ORDER(by_rank, turns, x->comm, x->rank);

static bool collect_turns(sl__rules *r)
{
    const sl__notes *notes = &sl__timeline_notes(r->timeline)[SL__COLLECTIVES];
    const sl_collective_note *all = notes->at;
    r->turns = malloc((notes->n + 1) * sizeof *r->turns);
    if (!r->turns) return false;
    for (size_t i = 0; i < notes->n; i++)
        r->turns[i] = (turns){ .comm = all[i].comm, .rank = all[i].rank };
    sl__sort(r->turns, notes->n, sizeof *r->turns, by_rank);
    for (size_t i = 0; i < notes->n; i++) {
        if (r->n_turns == 0 || by_rank(&r->turns[r->n_turns - 1], &r->turns[i]) != 0)
            r->turns[r->n_turns++] = r->turns[i];
    }
    return true;
}

/* Collectives of one call (ncclGroupEnd) are one kernel, and take one turn. */
static void set_turn(sl__rules *r, const sl_span *span, sl__issue *issue)
{
    const sl_collective_note *note = r->n_turns == 0 ? NULL
                                                     : sl_timeline_find_collective(
                                                         r->timeline, span->correlation);
    size_t k;
    if (!note) return;
    const turns wanted = { .comm = note->comm, .rank = note->rank };
    SL__SEARCH(k, r->n_turns, by_rank(&r->turns[k], &wanted) < 0);
    turns *last = &r->turns[k];
    issue->joint = r->turn + (uint32_t)k;
    issue->is_turn = span->host_start_ns != last->host_start_ns
                     || span->host_end_ns != last->host_end_ns;
    last->host_start_ns = span->host_start_ns;
    last->host_end_ns = span->host_end_ns;
}

/* ---- records ------------------------------------------------------------------------ */

static bool collect_records(sl__rules *r)
{
    const size_t n = sl_timeline_call_count(r->timeline);
    size_t n_records = 0;
    for (size_t i = 0; i < n; i++)
        n_records += sl_timeline_call(r->timeline, i).kind == SL_CALL_EVENT_RECORD;
    r->records = malloc((n_records + 1) * sizeof *r->records);
    if (!r->records) return false;
    for (size_t i = 0; i < n && r->n_records < n_records; i++) {
        const sl_call call = sl_timeline_call(r->timeline, i);
        if (call.kind == SL_CALL_EVENT_RECORD) r->records[r->n_records++] = call.correlation;
    }
    return true;
}

static uint32_t record_joint(const sl__rules *r, uint64_t correlation)
{
    size_t k;
    SL__SEARCH(k, r->n_records, r->records[k] < correlation);
    bool found = k < r->n_records && r->records[k] == correlation;
    return found ? r->record + (uint32_t)k : SL__NO_JOINT;
}

/* ---- launches of graphs --------------------------------------------------------------- */

typedef struct launched {
    uint32_t graph, stream;
    size_t launch;
    bool has_call; /* so that its stream is known */
} launched;

SL__ORDER(by_graph, launched, x->graph, x->launch);

static launched read_launch(const sl_timeline *timeline, const sl_launch_note *note, size_t i)
{
    launched found = { .graph = note->graph, .launch = i };
    size_t at = sl_timeline_find_call(timeline, note->correlation);
    if (at == SL_NOT_FOUND) return found;
    found.has_call = true;
    found.stream = sl_timeline_call(timeline, at).stream;
    return found;
}

/* Those in one stream are in order by that; 0 is a graph that a trace does not name. */
static bool link_launches(sl__rules *r)
{
    const sl_launch_note *notes = sl_timeline_launches(r->timeline, &r->n_launches);
    const size_t n = r->n_launches;
    launched *all = malloc((n + 1) * sizeof *all);
    r->previous = malloc((n + 1) * sizeof *r->previous);
    for (size_t i = 0; i < n && all && r->previous; i++)
        all[i] = read_launch(r->timeline, &notes[i], i);
    if (!all || !r->previous) {
        free(all);
        return false;
    }
    sl__sort(all, n, sizeof *all, by_graph);
    for (size_t i = 0; i < n; i++) {
        const launched *before = i > 0 ? &all[i - 1] : NULL;
        bool follows = before && all[i].graph != 0 && before->graph == all[i].graph
                       && before->has_call && all[i].has_call && before->stream != all[i].stream;
        r->previous[all[i].launch] = follows ? (uint32_t)before->launch : SL__NO_JOINT;
    }
    free(all);
    return true;
}

/* ---- streams -------------------------------------------------------------------------- */

/* That of a place comes first; others in the order of their lanes. */
static bool number_contexts(sl__rules *r)
{
    const uint32_t n_places = (uint32_t)sl_timeline_device_count(r->timeline);
    sl__keys others = { 0 };
    bool fine = true;
    for (uint32_t lane = 0; lane < r->lanes.n && fine; lane++) {
        const sl_stream_note *note = sl__timeline_note(r->timeline, r->lanes.ids[lane]);
        const uint64_t key = note ? note->context : 0;
        size_t number;
        r->of[lane].context = r->of[lane].place;
        if (key == 0) continue;
        fine = sl__keys_number(&others, &key, &number);
        if (fine) r->of[lane].context = n_places + (uint32_t)number;
    }
    r->n_contexts = n_places + (uint32_t)others.n;
    sl__keys_free(&others);
    return fine;
}

static bool describe_lanes(sl__rules *r)
{
    r->of = calloc(r->lanes.n + 1, sizeof *r->of);
    if (!r->of) return false;
    for (uint32_t lane = 0; lane < r->lanes.n; lane++) {
        const uint32_t id = r->lanes.ids[lane];
        const sl_stream_note *note = sl__timeline_note(r->timeline, id);
        size_t first = note && note->is_row ? sl__lanes_find(&r->lanes, note->row_of) : lane;
        if (first >= r->lanes.n) first = lane; /* nothing is in that stream */
        r->of[lane].place = (uint32_t)sl_timeline_place(r->timeline, id);
        r->of[lane].is_null = sl_timeline_is_null_stream(r->timeline,
                                                         note && note->is_row ? note->row_of : id);
        r->of[lane].is_blocking = r->of[lane].is_null || sl__timeline_is_blocking(r->timeline, id);
        r->of[lane].stream = (uint32_t)first;
        r->of[first].has_rows |= first != lane;
    }
    for (uint32_t lane = 0; lane < r->lanes.n; lane++)
        r->of[lane].has_rows = r->of[r->of[lane].stream].has_rows;
    return number_contexts(r);
}

static void pass(sl__ruling *out, uint32_t from, uint32_t into)
{
    out->passed[out->n_passed].from = from;
    out->passed[out->n_passed++].into = into;
}

static void add(sl__rule *rules, int *n, uint32_t joint, sl_cause cause)
{
    rules[(*n)++] = (sl__rule){ joint, (uint8_t)cause };
}

/* What follows from the stream alone. */
static void rule_lanes(sl__rules *r)
{
    for (uint32_t i = 0; i < r->lanes.n; i++) {
        sl__rules_lane *lane = &r->of[i];
        const uint32_t context = lane->context, rows = r->rows + lane->stream;
        if (lane->is_blocking)
            add(lane->behind, &lane->n_behind, (lane->is_null ? r->blocking : r->null) + context,
                SL_CAUSE_NULL_STREAM);
        if (lane->has_rows) add(lane->behind, &lane->n_behind, rows, SL_CAUSE_STREAM_ORDER);
        add(lane->behind, &lane->n_behind, r->stream + i, SL_CAUSE_STREAM_ORDER);
        add(lane->into, &lane->n_into, r->stream + i, SL_CAUSE_STREAM_ORDER);
        if (lane->has_rows) add(lane->into, &lane->n_into, rows, SL_CAUSE_STREAM_ORDER);
        if (lane->is_blocking)
            add(lane->into, &lane->n_into, (lane->is_null ? r->null : r->blocking) + context,
                SL_CAUSE_NULL_STREAM);
        if (lane->is_blocking)
            add(lane->into, &lane->n_into, r->legacy + context, SL_CAUSE_HOST_BLOCKED);
        add(lane->into, &lane->n_into, r->device + context, SL_CAUSE_HOST_BLOCKED);
        lane->all = lane->is_null ? r->legacy + context : lane->has_rows ? rows : r->stream + i;
    }
}

/* ---- life ------------------------------------------------------------------------------- */

/* False: there are more than can be counted. */
static bool number_joints(sl__rules *r)
{
    const uint64_t contexts = r->n_contexts, lanes = r->lanes.n;
    const struct {
        uint32_t *first;
        uint64_t n;
    } kinds[] = {
        { &r->device, contexts },
        { &r->null, contexts },
        { &r->null_before, contexts },
        { &r->blocking, contexts },
        { &r->blocking_before, contexts },
        { &r->legacy, contexts },
        { &r->stream, lanes },
        { &r->rows, lanes },
        { &r->rows_before, lanes },
        { &r->ran, r->n_launches },
        { &r->turn, r->n_turns },
        { &r->turn_before, r->n_turns },
        { &r->record, r->n_records },
    };
    uint64_t n = r->n_threads;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        *kinds[k].first = (uint32_t)n;
        n += kinds[k].n;
        if (n >= SL__NO_JOINT) return false;
    }
    r->n_joints = (uint32_t)n;
    return true;
}

sl_status sl__rules_open(const sl_timeline *timeline, sl__rules *rules, sl_error *err)
{
    *rules = (sl__rules){ .timeline = timeline };
    sl_status status = sl__lanes_collect(timeline, true, &rules->lanes, err);
    if (status != SL_OK) return status;
    rules->n_threads = sl_timeline_caller_count(timeline);
    if (!collect_turns(rules) || !collect_records(rules) || !link_launches(rules)
        || !describe_lanes(rules) || !number_joints(rules)) {
        sl__rules_close(rules);
        return sl__no_memory(err, "the rules of %zu calls", sl_timeline_call_count(timeline));
    }
    rule_lanes(rules);
    return SL_OK;
}

void sl__rules_close(sl__rules *rules)
{
    sl__lanes_free(&rules->lanes);
    free(rules->of);
    free(rules->previous);
    free(rules->turns);
    free(rules->records);
    *rules = (sl__rules){ 0 };
}

/* ---- reading ------------------------------------------------------------------------------ */

sl__reading sl__rules_read(sl__rules *rules)
{
    for (size_t lane = 0; lane < rules->lanes.n; lane++)
        rules->of[lane].launch = 0;
    for (size_t k = 0; k < rules->n_turns; k++)
        rules->turns[k].host_start_ns = rules->turns[k].host_end_ns = SL__NEVER;
    return (sl__reading){ .rules = rules, .at = { .timeline = rules->timeline } };
}

/* All between a launch's call and its last operation are its own. */
static uint32_t launch_at(sl__reading *reading, uint64_t correlation)
{
    size_t n;
    const sl_launch_note *notes = sl_timeline_launches(reading->rules->timeline, &n);
    while (reading->launch < n && notes[reading->launch].last < correlation)
        reading->launch++;
    bool is_own = reading->launch < n && notes[reading->launch].correlation < correlation;
    return is_own ? (uint32_t)reading->launch + 1 : 0;
}

static void set_place(sl__reading *reading, uint32_t stream, uint64_t correlation)
{
    sl__rules *r = reading->rules;
    sl__issue *issue = &reading->issue;
    issue->lane = (uint32_t)sl__lanes_find(&r->lanes, stream);
    const uint32_t thread = r->n_threads > 1 ? sl__issues_thread(&reading->at) : 0;
    issue->thread = sl_timeline_host_thread(r->timeline, thread).caller;
    if (issue->kind > SL__ISSUE_WAIT || r->n_launches == 0) return;
    issue->launch = launch_at(reading, correlation);
    uint32_t *last = &r->of[r->of[issue->lane].stream].launch;
    issue->is_first = issue->launch != 0 && *last != issue->launch;
    *last = issue->launch;
}

static void read_span(sl__reading *reading, const sl_span *span)
{
    reading->issue = (sl__issue){
        .kind = SL__ISSUE_SPAN,
        .joint = SL__NO_JOINT,
        .loads = (span->flags & SL_SPAN_LOADED) != 0,
        .waits = (span->flags & SL_SPAN_HOST_WAITED) != 0,
    };
    set_place(reading, span->stream, span->correlation);
    set_turn(reading->rules, span, &reading->issue);
}

static sl__issue_kind kind_of(const sl_call *call)
{
    switch ((sl_call_kind)call->kind) {
    case SL_CALL_EVENT_RECORD: return SL__ISSUE_RECORD;
    case SL_CALL_STREAM_WAIT: return SL__ISSUE_WAIT;
    case SL_CALL_STREAM_SYNC: return SL__ISSUE_STREAM_SYNC;
    case SL_CALL_EVENT_SYNC: return SL__ISSUE_EVENT_SYNC;
    case SL_CALL_DEVICE_SYNC: return SL__ISSUE_DEVICE_SYNC;
    case SL_CALL_PLAIN: return call->waited_for_device ? SL__ISSUE_DEVICE_SYNC : SL__ISSUE_OTHER;
    case SL_CALL_HOST_WORK:
    case SL_CALL_KINDS: break;
    }
    return SL__ISSUE_OTHER;
}

static void read_call(sl__reading *reading, const sl_call *call)
{
    const sl__issue_kind kind = kind_of(call);
    const sl__rules *r = reading->rules;
    bool has_event = kind == SL__ISSUE_WAIT || kind == SL__ISSUE_EVENT_SYNC;
    reading->issue = (sl__issue){
        .kind = (uint8_t)kind,
        .joint = kind == SL__ISSUE_RECORD ? record_joint(r, call->correlation)
                 : has_event              ? record_joint(r, call->target)
                                          : SL__NO_JOINT,
    };
    set_place(reading, call->stream, call->correlation);
}

bool sl__reading_next(sl__reading *reading)
{
    if (!sl__issues_next(&reading->at)) return false;
    if (reading->at.is_call)
        read_call(reading, &reading->at.call);
    else
        read_span(reading, &reading->at.span);
    return true;
}

/* ---- the rules --------------------------------------------------------------------------- */

static void come_behind(sl__ruling *out, uint32_t joint, sl_cause cause)
{
    add(out->behind, &out->n_behind, joint, cause);
}

/* What a launch runs comes behind what its stream and the NULL stream held before it. */
static void rule_launched(const sl__rules *r, const sl__issue *issue, sl__ruling *out)
{
    const sl__rules_lane *lane = &r->of[issue->lane];
    const uint32_t previous = r->previous[issue->launch - 1];
    const uint32_t held = (lane->is_null ? r->blocking_before : r->null_before) + lane->context;
    const uint32_t before = r->rows_before + lane->stream;
    int k = 0;
    if (previous != SL__NO_JOINT) come_behind(out, r->ran + previous, SL_CAUSE_GRAPH);
    if (lane->is_blocking) {
        if (issue->is_first) pass(out, lane->behind[k].joint, held);
        come_behind(out, held, SL_CAUSE_NULL_STREAM);
        k++;
    }
    if (lane->has_rows) {
        if (issue->is_first) pass(out, lane->behind[k].joint, before);
        come_behind(out, before, SL_CAUSE_STREAM_ORDER);
    }
    come_behind(out, r->stream + issue->lane, SL_CAUSE_STREAM_ORDER);
}

static void rule_turn(const sl__rules *r, const sl__issue *issue, sl__ruling *out)
{
    uint32_t before = r->turn_before + (issue->joint - r->turn);
    if (issue->is_turn) pass(out, issue->joint, before);
    come_behind(out, before, SL_CAUSE_COMM);
}

void sl__rules_behind(const sl__rules *r, const sl__issue *issue, sl__ruling *out)
{
    const sl__rules_lane *lane = &r->of[issue->lane];
    out->is_operation = issue->kind <= SL__ISSUE_WAIT;
    out->n_passed = out->n_behind = out->n_into = 0;
    uint32_t awaited = sl__awaited_joint(r, issue);
    if (awaited != SL__NO_JOINT) pass(out, awaited, issue->thread);
    if (!out->is_operation) return;
    if (issue->launch != 0) {
        rule_launched(r, issue, out);
    } else {
        memcpy(out->behind, lane->behind, sizeof lane->behind);
        out->n_behind = lane->n_behind;
    }
    if (issue->joint != SL__NO_JOINT && issue->kind == SL__ISSUE_WAIT)
        come_behind(out, issue->joint, SL_CAUSE_EVENT);
    if (issue->joint != SL__NO_JOINT && issue->kind == SL__ISSUE_SPAN) rule_turn(r, issue, out);
    come_behind(out, issue->thread, SL_CAUSE_HOST_BLOCKED);
}

void sl__rules_into(const sl__rules *r, const sl__issue *issue, sl__ruling *out)
{
    const sl__rules_lane *lane = &r->of[issue->lane];
    const bool is_span = issue->kind == SL__ISSUE_SPAN;
    memcpy(out->into, lane->into, sizeof lane->into);
    out->n_into = lane->n_into;
    if (is_span && issue->launch != 0)
        add(out->into, &out->n_into, r->ran + issue->launch - 1, SL_CAUSE_GRAPH);
    if (issue->joint != SL__NO_JOINT && issue->kind != SL__ISSUE_WAIT)
        add(out->into, &out->n_into, issue->joint, is_span ? SL_CAUSE_COMM : SL_CAUSE_EVENT);
    if (issue->waits) add(out->into, &out->n_into, issue->thread, SL_CAUSE_HOST_BLOCKED);
}

/* ---- boards ------------------------------------------------------------------------------ */

sl_status sl__board_open(const sl__rules *rules, sl__board *board, sl_error *err)
{
    *board = (sl__board){ malloc(((size_t)rules->n_joints + 1) * sizeof *board->at),
                          rules->n_joints };
    if (!board->at) return sl__no_memory(err, "%u joints of operations", (unsigned)board->n);
    sl__board_clear(board);
    return SL_OK;
}

void sl__board_clear(sl__board *board)
{
    for (uint32_t joint = 0; joint < board->n; joint++)
        board->at[joint] = (sl__reach){ SL__NEVER, SIZE_MAX };
}

void sl__board_close(sl__board *board)
{
    free(board->at);
    *board = (sl__board){ 0 };
}
