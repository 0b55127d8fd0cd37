/* report_html.c - a timeline as one page: chart, tables, explanation.
 *
 * The page itself lies in report/: page.html has {{marks}}, each of which is replaced
 * by the file of that name beside it or by what a function here writes. What the page
 * shows is one JSON object (report_data.c).
 */
#include "pictures.h"

#include <string.h>

#include "report_head.h"
#include "report_parts.h"

typedef sl__page page;

/* A mark's text: "digest of script.js". */
static sl_status put_mark(page *p, const char *mark, sl_error *err)
{
    static const char digest[] = "digest of ";
    if (strcmp(mark, "title") == 0) return sl__head_put_title(&p->file, p->timeline, err);
    if (strncmp(mark, digest, sizeof digest - 1) == 0)
        return sl__head_put_digest(&p->file, mark + sizeof digest - 1, err);
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
