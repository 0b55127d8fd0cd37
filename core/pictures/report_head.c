/* report_head.c - the page's title, its colours, and its own script and styles, which its policy
 * names by their digests: nothing else runs or is styled. */
#include "report_head.h"

#include <stdio.h>
#include <string.h>

#include "../text/bytes.h"
#include "../text/json.h"
#include "../text/text.h"
#include "../text/xml.h"
#include "pictures.h"

/* ---- title ------------------------------------------------------------------------ */

/* The first position of a script, or "". */
static const char *first_where(const sl_timeline *timeline)
{
    const size_t n_spans = sl_timeline_span_count(timeline);
    const size_t n_calls = sl_timeline_call_count(timeline);
    uint32_t where = 0;
    for (size_t i = 0; i < n_spans && !where; i++)
        where = sl_timeline_span(timeline, i).where;
    for (size_t i = 0; i < n_calls && !where; i++)
        where = sl_timeline_call(timeline, i).where;
    return sl_timeline_text(timeline, where);
}

void sl__head_name(const sl_timeline *timeline, char name[SL__HEAD_NAME_BYTES])
{
    const char *file = sl_timeline_name(timeline), *where = first_where(timeline);
    const char *line = strrchr(where, ':'); /* "lab.lua:12" */
    size_t n = *file ? strlen(file) : line ? (size_t)(line - where) : strlen(where);
    if (n >= SL__HEAD_NAME_BYTES) n = SL__HEAD_NAME_BYTES - 1;
    memcpy(name, *file ? file : where, n);
    name[n] = '\0';
}

sl_status sl__head_put_title(sl__outfile *file, const sl_timeline *timeline, sl_error *err)
{
    char name[SL__HEAD_NAME_BYTES], buffer[SL_DEVICE_NAME_BYTES];
    const char *device = sl_timeline_device_name(timeline, buffer);
    sl_text title = { 0 };
    sl__head_name(timeline, name);
    sl_xml_add(&title, name, 0);
    sl_text_add(&title, "%s", *name && *device ? " – " : "");
    sl_xml_add(&title, device, 0);
    sl_text_add(&title, "%s%s", *name || *device ? "" : "Timeline",
                sl_timeline_device(timeline)->simulated ? " (simulated)" : "");
    if (!title.failed) sl__json_raw(file, title.data);
    sl_status status = title.failed ? sl__no_memory(err, "a title") : SL_OK;
    sl_text_free(&title);
    return status;
}

/* ---- colours ---------------------------------------------------------------------- */

static void add_look(sl_text *css, const sl_look *look, bool dark)
{
    const sl_paint *paint = dark ? &look->dark : &look->light;
    sl_text_add(css, "\n    --%s: %s; --on-%s: %s;", look->name, paint->fill, look->name,
                paint->ink);
}

static void add_paints(sl_text *css, const char *selector, bool dark)
{
    sl_text_add(css, "%s {", selector);
    for (int i = 0; i < SL_SPAN_KINDS; i++)
        add_look(css, &sl_looks[i], dark);
    for (int i = 0; i < SL_HOST_LOOKS; i++)
        add_look(css, &sl_host_looks[i], dark);
    sl_text_add(css, "\n}\n");
}

static void add_palette(sl_text *css)
{
    add_paints(css, ":root", false);
    add_paints(css, ":root[data-theme=\"dark\"]", true);
}

/* ---- script and styles ------------------------------------------------------------ */

const sl__page_file *sl__head_file(const char *name, sl_error *err)
{
    static const char folder[] = "core/pictures/report/";
    for (const sl__page_file *file = sl__page_files; file->name; file++)
        if (strncmp(file->name, folder, sizeof folder - 1) == 0
            && strcmp(file->name + sizeof folder - 1, name) == 0)
            return file;
    sl_fail(err, SL_EBACKEND, "cannot write a page: %s%s is not built in", folder, name);
    return NULL;
}

const char *sl__head_mark(const char *mark, char name[SL__MARK_BYTES], sl_error *err)
{
    const char *end = strstr(mark, "}}");
    if (end && (size_t)(end - mark) < SL__MARK_BYTES + 2) {
        snprintf(name, SL__MARK_BYTES, "%.*s", (int)(end - mark - 2), mark + 2);
        return end + 2;
    }
    sl_fail(err, SL_EBACKEND, "cannot write a page: \"%.16s\" in a file of it is no mark", mark);
    return NULL;
}

static sl_status add_mark(sl_text *part, const char *name, sl_error *err)
{
    if (strcmp(name, "palette") == 0) {
        add_palette(part);
        return SL_OK;
    }
    const sl__page_file *file = sl__head_file(name, err);
    if (!file) return SL_EBACKEND;
    sl_text_add(part, "%s", file->data);
    return SL_OK;
}

static sl_status add_part(sl_text *part, const char *name, sl_error *err)
{
    const sl__page_file *file = sl__head_file(name, err);
    if (!file) return SL_EBACKEND;
    const char *at = file->data;
    for (const char *mark; (mark = strstr(at, "{{")) != NULL;) {
        char marked[SL__MARK_BYTES];
        sl_text_add(part, "%.*s", (int)(mark - at), at);
        at = sl__head_mark(mark, marked, err);
        if (!at || add_mark(part, marked, err) != SL_OK) return SL_EBACKEND;
    }
    sl_text_add(part, "%s", at);
    return SL_OK;
}

/* Writes the text, unless there was an error before, and frees it. */
static sl_status put_text(sl__outfile *file, sl_text *text, sl_status status, sl_error *err)
{
    if (status == SL_OK && text->failed) status = sl__no_memory(err, "a page");
    if (status == SL_OK) sl__outfile_write(file, text->data, text->len);
    sl_text_free(text);
    return status;
}

sl_status sl__head_put_part(sl__outfile *file, const char *name, sl_error *err)
{
    sl_text part = { 0 };
    sl_status status = add_part(&part, name, err);
    return put_text(file, &part, status, err);
}

static unsigned nibble(char digit)
{
    return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

/* A policy has digests as base64. */
static void add_digest(sl_text *out, const sl_text *part)
{
    char hex[SL_SHA256_CHARS], digits[4];
    const int n = (SL_SHA256_CHARS - 1) / 2;
    sl_sha256(part->data, part->len, hex);
    for (int at = 0; at < n; at += 3) {
        uint32_t bits = 0;
        int taken = n - at < 3 ? n - at : 3;
        for (int i = 0; i < 2 * taken; i++)
            bits |= nibble(hex[2 * at + i]) << (20 - 4 * i);
        sl__base64_group(bits, taken, digits);
        sl_text_add(out, "%.4s", digits);
    }
}

sl_status sl__head_put_digest(sl__outfile *file, const char *name, sl_error *err)
{
    sl_text part = { 0 }, digest = { 0 };
    sl_status status = add_part(&part, name, err);
    sl_text_add(&digest, "'sha256-");
    if (status == SL_OK && !part.failed) add_digest(&digest, &part);
    sl_text_add(&digest, "'");
    digest.failed |= part.failed;
    sl_text_free(&part);
    return put_text(file, &digest, status, err);
}
