/* report_html.c - a timeline as one page: chart, tables, explanation.
 *
 * The page itself lies in report/: page.html has {{marks}}, each of which is replaced
 * by the file of that name beside it or by what a function here writes. What the page
 * shows is one JSON object (report_data.c), and one for each change whose timeline it has:
 * the page's script takes one of them.
 */
#include "pictures.h"

#include <string.h>

#include "../base.h"
#include "../timeline/timeline.h"
#include "report_head.h"
#include "report_parts.h"

typedef sl__page page;

/* ---- changes ---------------------------------------------------------------------- */

/* From the earliest time to the last: what charts of changes show, too, so that lengths compare. */
static int64_t extent_ns(const page *p)
{
    int64_t last_ns = p->base_ns;
    for (size_t i = 0; i < sl_timeline_span_count(p->timeline); i++) {
        const sl_span span = sl_timeline_span(p->timeline, i);
        last_ns = sl__max(last_ns, sl__max(span.end_ns, span.host_end_ns));
    }
    for (size_t i = 0; i < sl_timeline_call_count(p->timeline); i++)
        last_ns = sl__max(last_ns, sl_timeline_call(p->timeline, i).host_end_ns);
    return last_ns - p->base_ns;
}

static void begin_data(page *p, const char *id, size_t number)
{
    raw(p, "<script type=\"application/json\" id=\"");
    raw(p, id);
    if (number > 0) sl__json_int(&p->file, "", (int64_t)number);
    raw(p, "\">\n");
}

static void put_list(page *p)
{
    const sl_page_words *words = p->words;
    begin_data(p, "changes-data", 0);
    number(p, "{\"before\":", words ? words->before_ns : 0);
    number(p, ",\"extent\":", extent_ns(p));
    raw(p, ",\"list\":[");
    for (size_t i = 0; words && i < words->n_changes; i++) {
        const sl_page_change *change = &words->changes[i];
        element(p, i);
        text(p, "{\"what\":", change->what);
        text(p, ",\"command\":", change->command);
        number(p, ",\"after\":", change->after_ns);
        number(p, ",\"low\":", change->low_ns);
        number(p, ",\"high\":", change->high_ns);
        truth(p, ",\"shown\":", change->timeline != NULL);
        raw(p, "}");
    }
    raw(p, "]}\n</script>\n");
}

/* An object as that of the page itself; the file goes there and back. */
static sl_status put_changed(page *p, const sl_page_change *change, size_t number, sl_error *err)
{
    page changed;
    sl_status status = sl__report_open(change->timeline, change->words, &changed, err);
    if (status == SL_OK) {
        begin_data(p, "data-", number);
        changed.file = p->file;
        status = sl__report_put_data(&changed, err);
        p->file = changed.file;
        raw(p, "</script>\n");
    }
    sl__report_close(&changed);
    return status;
}

static sl_status put_changes(page *p, sl_error *err)
{
    sl_status status = SL_OK;
    put_list(p);
    for (size_t i = 0; status == SL_OK && p->words && i < p->words->n_changes; i++) {
        const sl_page_change *change = &p->words->changes[i];
        if (change->timeline) status = put_changed(p, change, i + 1, err);
    }
    return status;
}

/* ---- the page --------------------------------------------------------------------- */

/* A mark's text: "digest of script.js". */
static sl_status put_mark(page *p, const char *mark, sl_error *err)
{
    static const char digest[] = "digest of ";
    if (strcmp(mark, "title") == 0) return sl__head_put_title(&p->file, p->timeline, err);
    if (strncmp(mark, digest, sizeof digest - 1) == 0)
        return sl__head_put_digest(&p->file, mark + sizeof digest - 1, err);
    if (strcmp(mark, "changes") == 0) return put_changes(p, err);
    if (strcmp(mark, "data") != 0) return sl__head_put_part(&p->file, mark, err);
    return sl__report_put_data(p, err);
}

static sl_status put_page(page *p, sl_error *err)
{
    const sl__page_file *file = sl__head_file("page.html", err);
    if (!file) return SL_EBACKEND;
    const char *at = file->data;
    for (const char *begin; (begin = strstr(at, "{{")) != NULL;) {
        char mark[SL__MARK_BYTES];
        sl__outfile_write(&p->file, at, (size_t)(begin - at));
        at = sl__head_mark(begin, mark, err);
        sl_status status = at ? put_mark(p, mark, err) : SL_EBACKEND;
        if (status != SL_OK) return status;
    }
    raw(p, at);
    return SL_OK;
}

static sl_status write_page(page *p, const char *path, sl_error *err)
{
    sl_status status = sl__outfile_open(path, &p->file, err);
    if (status != SL_OK) return status;
    status = put_page(p, err);
    if (status == SL_OK) return sl__outfile_close(&p->file, err);
    sl__outfile_abandon(&p->file);
    return status;
}

sl_status sl_timeline_save_html(const sl_timeline *timeline, const char *path,
                                const sl_page_words *words, sl_error *err)
{
    page p;
    sl_status status = sl__report_open(timeline, words, &p, err);
    if (status == SL_OK) status = write_page(&p, path, err);
    sl__report_close(&p);
    return status;
}
