/* chakra.c - a timeline as execution traces of MLCommons Chakra, which ASTRA-sim and others replay: a
 * file a rank, "run.0.et" for "run.et", of one message GlobalMetadata and a Node for each task
 * (schema/protobuf/et_def.proto of mlcommons/chakra).
 *
 *   - All dependencies are data_deps: some readers leave ctrl_deps out.
 *   - Attributes have the types that ASTRA-sim's readers expect, the old one and the one of today.
 *   - Times are whole us from the first operation's start. Start and end are rounded, so that
 *     durations in a row add up.
 *   - A copy between host and GPU is a MEM_LOAD_NODE or a MEM_STORE_NODE: from and to remote memory.
 *   - comm_size is what a rank puts in. Without pg_name a collective is of all ranks; a communicator
 *     of some has its ranks in a METADATA_NODE, as PyTorch writes them.
 *   - num_ops is left out: how many a kernel takes is not known.
 */
#include "traces.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../timeline/store.h"
#include "protobuf.h"
#include "tasks.h"

#define VERSION "0.0.4"

enum { META_VERSION = 1 }; /* fields of GlobalMetadata, */
enum {                     /* of Node, */
       NODE_ID = 1,
       NODE_NAME = 2,
       NODE_TYPE = 3,
       NODE_DATA_DEPS = 5,
       NODE_START = 6,
       NODE_DURATION = 7,
       NODE_INPUTS = 8,
       NODE_ATTR = 10
};
enum { INFO_VALUES = 1 }; /* of IOInfo, */
enum {                    /* and of AttributeProto */
       ATTR_NAME = 1,
       ATTR_INT32 = 7,
       ATTR_INT64 = 9,
       ATTR_UINT64 = 13,
       ATTR_BOOL = 27,
       ATTR_STRING = 29
};

typedef enum node_type {
    METADATA_NODE = 1,
    MEM_LOAD_NODE = 2,
    MEM_STORE_NODE = 3,
    COMP_NODE = 4,
    COMM_SEND_NODE = 5,
    COMM_RECV_NODE = 6,
    COMM_COLL_NODE = 7
} node_type;

typedef struct writer {
    const sl__tasks *tasks;
    sl__proto message;
    sl__outfile *file;
    int rank;
    int64_t base_ns;
} writer;

/* ---- attributes ------------------------------------------------------------------- */

static void put_number(writer *w, const char *name, unsigned type, uint64_t value)
{
    size_t attr = sl__proto_begin(&w->message, NODE_ATTR);
    sl__proto_text(&w->message, ATTR_NAME, name);
    sl__proto_uint(&w->message, type, value);
    sl__proto_end(&w->message, attr);
}

static void put_text(writer *w, const char *name, const char *value)
{
    size_t attr = sl__proto_begin(&w->message, NODE_ATTR);
    sl__proto_text(&w->message, ATTR_NAME, name);
    sl__proto_text(&w->message, ATTR_STRING, value);
    sl__proto_end(&w->message, attr);
}

/* ---- communicators ------------------------------------------------------------------ */

static bool has_rank(const sl__comm_group *group, int rank)
{
    int i = 0;
    while (i < group->n && group->ranks[i] != rank)
        i++;
    return i < group->n;
}

/* What a collective without the name of a group is of. */
static bool is_everyone(const writer *w, const sl__comm_group *group)
{
    for (int i = 0; i < group->n; i++)
        if (group->ranks[i] != i) return false;
    return group->n == w->tasks->n_ranks;
}

/* ['[{"pg_name": "2", "ranks": [0, 3]}]'], of the groups that this rank is in; "" without one. */
static void describe_groups(const writer *w, sl_text *text)
{
    const sl__comm_groups *groups = &w->tasks->groups;
    for (size_t i = 0; i < groups->n; i++) {
        const sl__comm_group *group = &groups->at[i];
        if (is_everyone(w, group) || !has_rank(group, w->rank)) continue;
        sl_text_add(text, "%s{\"pg_name\": \"%" PRIu64 "\", \"ranks\": [", text->len ? ", " : "['[",
                    group->comm);
        for (int rank = 0; rank < group->n; rank++)
            sl_text_add(text, "%s%d", rank ? ", " : "", group->ranks[rank]);
        sl_text_add(text, "]}");
    }
    if (text->len) sl_text_add(text, "]']");
}

static sl_status put_groups(writer *w, sl_error *err)
{
    sl_text text = { 0 };
    sl_status status = SL_OK;
    describe_groups(w, &text);
    if (text.failed) {
        status = sl__no_memory(err, "the communicators of a trace");
    } else if (text.len) {
        sl__proto_uint(&w->message, NODE_ID, 0);
        sl__proto_text(&w->message, NODE_NAME, "## process_group:init ##");
        sl__proto_uint(&w->message, NODE_TYPE, METADATA_NODE);
        size_t inputs = sl__proto_begin(&w->message, NODE_INPUTS);
        sl__proto_text(&w->message, INFO_VALUES, text.data);
        sl__proto_end(&w->message, inputs);
        status = sl__proto_write(&w->message, w->file, err);
    }
    sl_text_free(&text);
    return status;
}

/* ---- nodes ------------------------------------------------------------------------------ */

static node_type type_of(const sl__task *task, const sl_span *span)
{
    switch (task->kind) {
    case SL__TASK_COLLECTIVE: return COMM_COLL_NODE;
    case SL__TASK_SEND: return COMM_SEND_NODE;
    case SL__TASK_RECV: return COMM_RECV_NODE;
    case SL__TASK_WORK: break;
    }
    if (span->kind == SL_SPAN_MEMCPY_H2D) return MEM_LOAD_NODE;
    return span->kind == SL_SPAN_MEMCPY_D2H ? MEM_STORE_NODE : COMP_NODE;
}

/* CollectiveCommType. */
static const uint64_t collectives[SL_COLLECTIVES] = {
    [SL_ALL_REDUCE] = 0,
    [SL_ALL_GATHER] = 2,
    [SL_REDUCE_SCATTER] = 7,
    [SL_BROADCAST] = 5,
};

static void put_collective(writer *w, const sl_collective_note *note)
{
    const sl__comm_group *group = sl__comm_group_of(&w->tasks->groups, note);
    int64_t elems = note->in_elems > 0 ? note->in_elems : note->out_elems;
    char name[24];
    put_number(w, "comm_type", ATTR_INT64, collectives[note->collective]);
    put_number(w, "comm_size", ATTR_INT64, (uint64_t)elems * sl_dtype_bytes((sl_dtype)note->dtype));
    if (note->collective == SL_BROADCAST && note->peer >= 0 && note->peer < group->n)
        put_number(w, "comm_src", ATTR_INT32, (uint64_t)group->ranks[note->peer]);
    if (is_everyone(w, group)) return;
    snprintf(name, sizeof name, "%" PRIu64, note->comm);
    put_text(w, "pg_name", name);
}

static void put_message(writer *w, const sl__task *task)
{
    bool sends = task->kind == SL__TASK_SEND;
    put_number(w, "comm_src", ATTR_INT32, (uint64_t)(sends ? task->rank : task->peer));
    put_number(w, "comm_dst", ATTR_INT32, (uint64_t)(sends ? task->peer : task->rank));
    put_number(w, "comm_tag", ATTR_INT32, task->tag);
    put_number(w, "comm_size", ATTR_INT64, task->bytes);
}

static void put_attributes(writer *w, const sl__task *task, const sl_span *span)
{
    put_number(w, "is_cpu_op", ATTR_BOOL, span->kind == SL_SPAN_HOST_FUNC);
    put_number(w, "stream", ATTR_INT64, task->stream);
    if (task->kind == SL__TASK_COLLECTIVE)
        put_collective(w, task->note);
    else if (task->kind != SL__TASK_WORK)
        put_message(w, task);
    else if (span->bytes > 0)
        put_number(w, "tensor_size", ATTR_UINT64, span->bytes);
}

static uint64_t whole_us(const writer *w, int64_t ns)
{
    return (uint64_t)((ns - w->base_ns + 500) / 1000);
}

static void put_times(writer *w, const sl_span *span)
{
    uint64_t start = whole_us(w, span->start_ns);
    sl__proto_uint(&w->message, NODE_START, start);
    sl__proto_uint(&w->message, NODE_DURATION, whole_us(w, span->end_ns) - start);
}

static void put_deps(writer *w, const sl__task *task)
{
    if (task->n_deps == 0) return;
    size_t list = sl__proto_begin(&w->message, NODE_DATA_DEPS);
    for (size_t i = 0; i < task->n_deps; i++)
        sl__proto_number(&w->message, w->tasks->deps[task->first_dep + i] + 1);
    sl__proto_end(&w->message, list);
}

static sl_status put_node(writer *w, size_t i, sl_error *err)
{
    const sl__task *task = &w->tasks->at[i];
    const sl_timeline *timeline = w->tasks->timeline;
    sl_span span = sl__task_span(w->tasks, task);
    bool is_order = task->span == SL_NOT_FOUND;
    sl__proto_uint(&w->message, NODE_ID, i + 1);
    sl__proto_text(&w->message, NODE_NAME,
                   is_order ? "order" : sl_timeline_text(timeline, span.name));
    sl__proto_uint(&w->message, NODE_TYPE, type_of(task, &span));
    put_deps(w, task);
    if (!is_order) put_times(w, &span);
    put_attributes(w, task, &span);
    return sl__proto_write(&w->message, w->file, err);
}

/* ---- files -------------------------------------------------------------------------------- */

static sl_status put_rank(writer *w, sl_error *err)
{
    sl__proto_text(&w->message, META_VERSION, VERSION);
    sl_status status = sl__proto_write(&w->message, w->file, err);
    if (status == SL_OK) status = put_groups(w, err);
    for (size_t i = 0; i < w->tasks->n && status == SL_OK; i++) {
        if (sl__stops_at(i)) status = sl_interrupt_check(err);
        if (status == SL_OK && w->tasks->at[i].rank == w->rank) status = put_node(w, i, err);
    }
    return status;
}

/* Ends the file, which is not in its place yet. */
static sl_status write_rank(const sl__tasks *tasks, int rank, sl__outfile *file, sl_error *err)
{
    writer w = {
        .tasks = tasks,
        .file = file,
        .rank = rank,
        .base_ns = sl__timeline_first_ns(tasks->timeline),
    };
    sl_status status = put_rank(&w, err);
    sl__proto_free(&w.message);
    if (status == SL_OK) return sl__outfile_finish(file, err);
    sl__outfile_abandon(file);
    return status;
}

/* "run.et" -> "run.3.et" */
static sl_status name_file(const char *path, int rank, sl_text *name, sl_error *err)
{
    const char *end = strrchr(path, '.');
    sl_text_add(name, "%.*s.%d%s", (int)(end - path), path, rank, end);
    return name->failed ? sl__no_memory(err, "a file's name") : SL_OK;
}

typedef struct rank_file {
    sl_text name;
    sl__outfile file;
} rank_file;

/* All of them, or none. */
static sl_status write_all(const sl__tasks *tasks, const char *path, rank_file *files,
                           sl_error *err)
{
    int n = 0;
    sl_status status = SL_OK;
    while (n < tasks->n_ranks && status == SL_OK) {
        status = name_file(path, n, &files[n].name, err);
        if (status == SL_OK) status = sl__outfile_open(files[n].name.data, &files[n].file, err);
        if (status == SL_OK) status = write_rank(tasks, n, &files[n].file, err);
        if (status == SL_OK) n++;
    }
    for (int rank = 0; rank < n; rank++) {
        if (status == SL_OK)
            status = sl__outfile_place(&files[rank].file, err);
        else
            sl__outfile_abandon(&files[rank].file);
    }
    return status;
}

sl_status sl_timeline_save_chakra(const sl_timeline *timeline, const char *path, sl_error *err)
{
    sl__tasks tasks;
    sl_status status = sl__tasks_gather(timeline, "Chakra", &tasks, err);
    if (status != SL_OK) return status;
    rank_file *files = calloc((size_t)tasks.n_ranks, sizeof *files);
    status = files ? write_all(&tasks, path, files, err)
                   : sl__no_memory(err, "files of %d ranks", tasks.n_ranks);
    for (int rank = 0; files && rank < tasks.n_ranks; rank++)
        sl_text_free(&files[rank].name);
    free(files);
    sl__tasks_free(&tasks);
    return status;
}
