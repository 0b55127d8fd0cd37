/* nsys_host.c - the rows of a report of Nsight Systems about what the host did beside CUDA's calls:
 * ranges of NVTX, memory that was allocated and freed, and what Nsight Systems warns of. */
#include "nsys_report.h"

#include <string.h>

#include "../base.h"

/* ---- ranges ---- */

enum { MARK = 34, PUSH_POP = 59, START_END = 60, DOMAIN = 75 }; /* ENUM_NSYS_EVENT_TYPE */

static const char *const range_columns[] = { "start", "end",    "globalTid", "eventType",
                                             "text",  "textId", "domainId",  NULL };
enum { START, END, THREAD, TYPE, TEXT, TEXT_ID, DOMAIN_ID };

/* The text of the row itself, or else that of its number. */
static sl_status text_of_range(sl__nsys_report *r, sl__rows *rows, uint32_t *text, sl_error *err)
{
    sl_status status = sl__nsys_string(&r->strings, rows, TEXT, text, err);
    return status == SL_OK && *text == 0 ? sl__nsys_string(&r->strings, rows, TEXT_ID, text, err)
                                         : status;
}

static sl_status take_domain(sl__nsys_report *r, sl__rows *rows, sl__nsys_process *m, sl_error *err)
{
    sl__nsys_domain domain = { .global = m->global, .id = sl__rows_whole(rows, DOMAIN_ID, 0) };
    if (sl__rows_whole(rows, TYPE, 0) != DOMAIN) return SL_OK;
    sl_status status = text_of_range(r, rows, &domain.name, err);
    if (status == SL_OK && r->n_domains < SL__NSYS_DOMAINS && domain.name)
        r->domains[r->n_domains++] = domain;
    return status;
}

/* The default domain has no name. */
static const char *name_of_domain(const sl__nsys_report *r, int64_t global, int64_t id)
{
    for (size_t i = r->n_domains; i-- > 0 && id != 0;)
        if (r->domains[i].global == global && r->domains[i].id == id)
            return sl_timeline_text(r->all->records.timeline, r->domains[i].name);
    return "";
}

/* As the recorder has it: "DOMAIN:MESSAGE". */
static sl_status name_range(sl__nsys_report *r, const char *domain, uint32_t *name, sl_error *err)
{
    sl_timeline *timeline = r->all->records.timeline;
    sl_text whole = { 0 };
    if (!*domain || *name == 0) return SL_OK;
    sl_text_add(&whole, "%s:%s", domain, sl_timeline_text(timeline, *name));
    sl_status status = whole.failed ? sl__no_memory(err, "the name of a range")
                                    : sl_timeline_intern(timeline, whole.data, name, err);
    sl_text_free(&whole);
    return status;
}

/* One that was open when the report ended has no end, and is left out. */
static sl_status take_range(sl__nsys_report *r, sl__rows *rows, sl__nsys_process *m, sl_error *err)
{
    const int64_t type = sl__rows_whole(rows, TYPE, PUSH_POP);
    spool_range range = { .kind = SPOOL_RANGE,
                          .thread = (uint32_t)(sl__rows_whole(rows, THREAD, 0) & 0xffffff),
                          .start_ns = sl__nsys_moment(rows, START),
                          .end_ns = sl__nsys_moment(rows, type == MARK ? START : END) };
    if ((type != MARK && type != PUSH_POP && type != START_END) || range.start_ns == 0
        || range.end_ns < range.start_ns)
        return SL_OK;
    const char *domain = name_of_domain(r, m->global, sl__rows_whole(rows, DOMAIN_ID, 0));
    sl_status status = text_of_range(r, rows, &range.name, err);
    if (status == SL_OK) status = name_range(r, domain, &range.name, err);
    return status == SL_OK && range.name ? SL__NSYS_HAND_OVER(m, range, range, err) : status;
}

/* ---- memory ---- */

static const char *const memory_columns[] = { "start",
                                              "globalPid",
                                              "deviceId",
                                              "address",
                                              "bytes",
                                              "memKind",
                                              "memoryOperationType",
                                              "correlationId",
                                              "streamId",
                                              "localMemoryPoolAddress",
                                              "importedMemoryPoolAddress",
                                              "localMemoryPoolSize",
                                              NULL };
enum { MEMORY_PROCESS = 1 };

/* What comes from a pool has the pool's address. */
static sl_status take_memory(sl__nsys_report *r, sl__rows *rows, sl__nsys_process *m, sl_error *err)
{
    enum { AT, PROCESS, DEVICE, ADDRESS, BYTES, KIND, OPERATION, CALL, STREAM, POOL, OTHERS, HELD };
    const bool is_ordered = sl__rows_whole(rows, POOL, 0) != 0
                            || sl__rows_whole(rows, OTHERS, 0) != 0;
    const int64_t operation = sl__rows_whole(rows, OPERATION, -1);
    spool_memory memory = {
        .kind = SPOOL_MEMORY,
        .operation = operation == 0 || operation == 1 ? (uint8_t)(operation + 1) : 0,
        .memory = sl__nsys_memory(&r->enums, sl__rows_whole(rows, KIND, -1)),
        .is_ordered = is_ordered,
        .device = sl__nsys_device(r, m, sl__nsys_number(rows, DEVICE, 0)),
        .stream = is_ordered ? sl__nsys_number(rows, STREAM, SPOOL_NONE) : SPOOL_NONE,
        .correlation = sl__nsys_number(rows, CALL, 0),
        .size = sl__nsys_size(rows, BYTES),
        .address = (uint64_t)sl__rows_whole(rows, ADDRESS, 0),
        .time_ns = sl__nsys_time(rows, AT),
        .pool_bytes = is_ordered ? sl__nsys_size(rows, HELD) : 0
    };
    return SL__NSYS_HAND_OVER(m, memory, memory, err);
}

/* ---- tables ---- */

const sl__nsys_table sl__nsys_host_tables[] = {
    { "NVTX_EVENTS", range_columns, THREAD, take_domain },
    { "NVTX_EVENTS", range_columns, THREAD, take_range },
    { "CUDA_GPU_MEMORY_USAGE_EVENTS", memory_columns, MEMORY_PROCESS, take_memory },
    { NULL, NULL, 0, NULL },
};

/* ---- warnings ---- */

/* A terminal takes orders from other characters. */
static void add_safely(sl_text *to, const char *text, size_t n)
{
    while (n > 0 && strchr(". \n", text[n - 1]))
        n--;
    for (size_t i = 0; i < n && i < SL__NSYS_WARNING; i++)
        sl_text_add(to, "%c", text[i] >= ' ' && text[i] <= '~' ? text[i] : ' ');
}

sl_status sl__nsys_warnings_read(sl__nsys_report *r, sl_error *err)
{
    static const char *const columns[] = { "severity", "text", NULL };
    enum { WARNING = 2 }; /* ENUM_DIAGNOSTIC_SEVERITY_LEVEL; errors have more */
    sl__doubted *doubted = &r->all->records.doubted[SL_DOUBT_WARNINGS];
    sl__rows rows;
    bool more = false;
    sl_status status = sl__rows_open(r->db, "DIAGNOSTIC_EVENT", columns, &rows, err);
    while (status == SL_OK && (status = sl__rows_next(&rows, &more, err)) == SL_OK && more) {
        size_t n;
        const char *text = sl__rows_text(&rows, 1, &n);
        if (sl__rows_whole(&rows, 0, 0) < WARNING || !text || !strstr(text, "CUDA")) continue;
        if (doubted->n++ == 0) add_safely(&doubted->what, text, n);
    }
    sl__rows_close(&rows);
    return status;
}
