/* trace_rules.h - what holds for every trace file, found out without the library: it is JSON,
 * rows are named before they are used, slices of a row do not overlap, flows have both ends. */
#ifndef TESTS_TIMELINE_TRACE_RULES_H
#define TESTS_TIMELINE_TRACE_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"

/* ---- a small JSON validator: NULL, or where it stops being JSON ----------------- */

static const char *blanks(const char *at) { return at + strspn(at, " \t\r\n"); }

static const char *json_string(const char *at)
{
    if (*at++ != '"') return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20) return NULL;
        if (*at == '\\' && (!*++at || !strchr("\"\\/bfnrtu", *at))) return NULL;
    }
    return at + 1;
}

static const char *json_number(const char *at)
{
    at += *at == '-';
    size_t digits = strspn(at, "0123456789");
    if (digits == 0 || (digits > 1 && *at == '0')) return NULL;
    at += digits;
    if (*at != '.') return at;
    digits = strspn(at + 1, "0123456789");
    return digits ? at + 1 + digits : NULL;
}

static const char *json_value(const char *at)
{
    at = blanks(at);
    if (*at == '"') return json_string(at);
    if (strncmp(at, "true", 4) == 0) return at + 4;
    if (strncmp(at, "false", 5) == 0) return at + 5;
    if (*at != '{' && *at != '[') return json_number(at);
    char close = *at == '{' ? '}' : ']';
    at = blanks(at + 1);
    if (*at == close) return at + 1;
    for (;;) {
        if (close == '}') {
            at = json_string(blanks(at));
            at = at ? blanks(at) : NULL;
            if (!at || *at++ != ':') return NULL;
        }
        at = json_value(at);
        if (!at) return NULL;
        at = blanks(at);
        if (*at == close) return at + 1;
        if (*at++ != ',') return NULL;
    }
}

static bool is_json(const char *text)
{
    const char *end = json_value(text);
    return end && *blanks(end) == '\0';
}

/* ---- reading events: one a line ---------------------------------------------------- */

/* The number behind `key`, with a decimal point left out: us become ns. */
static int64_t field(const char *line, const char *key)
{
    const char *end = strchr(line, '\n'), *at = strstr(line, key);
    if (!at || at > end) return -1;
    int64_t value = 0;
    for (at += strlen(key); (*at >= '0' && *at <= '9') || *at == '.'; at++)
        value = *at == '.' ? value : value * 10 + (*at - '0');
    return value;
}

static bool starts(const char *line, const char *prefix)
{
    return strncmp(line, prefix, strlen(prefix)) == 0;
}

static const char *first_event(const char *text)
{
    const char *at = strstr(text, "\"traceEvents\":[\n");
    return at ? at + strlen("\"traceEvents\":[\n") : "";
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : "";
}

typedef struct findings {
    int recordings, slices, overlaps, unnamed, flow_starts, flow_ends, loose_flows, other;
} findings;

typedef struct row {
    int64_t pid, tid, end_ns, outer_end_ns;
    bool named;
} row;

static row *row_of(row *rows, int *n, const char *line)
{
    int64_t pid = field(line, "\"pid\":"), tid = field(line, "\"tid\":");
    for (int i = 0; i < *n; i++) {
        if (rows[i].pid == pid && rows[i].tid == tid) return &rows[i];
    }
    rows[*n] = (row){ .pid = pid, .tid = tid };
    return &rows[(*n)++];
}

/* Slices of one row must follow each other, and every end of a flow must be the
 * start of the slice before it. */
static findings check_events(const char *text)
{
    row rows[64];
    int n_rows = 0;
    findings found = { 0 };
    int64_t slice_start = -1, slice_tid = -1;
    for (const char *line = first_event(text); *line == '{'; line = next_line(line)) {
        row *r = row_of(rows, &n_rows, line);
        int64_t ts = field(line, "\"ts\":"), dur = field(line, "\"dur\":");
        if (starts(line, "{\"ph\":\"X\",\"cat\":\"user_annotation\"")) {
            found.recordings++; /* around all the others of its row */
            r->outer_end_ns = ts + dur;
        } else if (starts(line, "{\"ph\":\"X\"")) {
            found.slices++;
            found.overlaps += r->outer_end_ns && ts + dur > r->outer_end_ns;
            found.overlaps += ts < r->end_ns;
            found.unnamed += !r->named;
            r->end_ns = ts + dur;
            slice_start = ts;
            slice_tid = r->tid;
        } else if (starts(line, "{\"ph\":\"s\"") || starts(line, "{\"ph\":\"f\",\"bp\":\"e\"")) {
            found.flow_starts += line[7] == 's';
            found.flow_ends += line[7] == 'f';
            found.loose_flows += ts != slice_start || r->tid != slice_tid;
        } else if (starts(line, "{\"ph\":\"M\"")) {
            r->named |= starts(line, "{\"ph\":\"M\",\"name\":\"thread_name\"");
            found.other += ts != 0;
        } else if (starts(line, "{\"ph\":\"i\",\"s\":\"t\"")) {
            found.unnamed += !r->named;
        } else if (!starts(line, "{\"ph\":\"C\"")) { /* a counter has no row */
            found.other++;
        }
    }
    return found;
}

#endif
