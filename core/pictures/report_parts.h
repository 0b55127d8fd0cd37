/* report_parts.h - a page while it is written: what its files share, and pieces of its JSON. */
#ifndef SL_PICTURES_REPORT_PARTS_H
#define SL_PICTURES_REPORT_PARTS_H

#include "../text/json.h"
#include "../text/outfile.h"
#include "../timeline/lanes.h"
#include "columns.h"
#include "pictures.h"

typedef struct sl__page {
    const sl_timeline *timeline;
    const sl_explanation *why;
    const sl_page_words *words; /* NULL: codes */
    sl__outfile file;
    sl__lanes lanes;
    int64_t base_ns;
    sl_figures figures;
    sl_hold *holds; /* of the spans, in their order */
} sl__page;

static inline void raw(sl__page *p, const char *text) { sl__json_raw(&p->file, text); }
static inline void number(sl__page *p, const char *key, int64_t value)
{
    sl__json_int(&p->file, key, value);
}
static inline void text(sl__page *p, const char *key, const char *value)
{
    sl__json_script_string(&p->file, key, value);
}
static inline void truth(sl__page *p, const char *key, bool value)
{
    sl__json_bool(&p->file, key, value);
}

/* Begins the i-th element of an array, each on a line of its own. */
static inline void element(sl__page *p, size_t i) { raw(p, i == 0 ? "\n" : ",\n"); }

/* What a column can have. */
static inline int64_t whole(uint64_t value)
{
    return value > SL__COLUMN_MAX ? SL__COLUMN_MAX : (int64_t)value;
}

/* {"n":3,"start":"...","end":"..."}; `value` may use what `row` declares from its index i. */
#define COLUMN(p, n, row, key, value)                  \
    do {                                               \
        sl__column column;                             \
        raw((p), ",\n\"" key "\":\"");                 \
        sl__column_begin(&column, &(p)->file);         \
        for (size_t i = 0; i < (n); i++) {             \
            row;                                       \
            sl__column_add(&column, (int64_t)(value)); \
        }                                              \
        sl__column_end(&column);                       \
        raw((p), "\"");                                \
    } while (0)

/* As times are in the page. */
static inline int64_t since(const sl__page *p, int64_t ns) { return ns - p->base_ns; }

/* Of a finished timeline (report_data.c). SL_ENOMEM, SL_EINTERRUPT: also then it has to be
 * closed. */
sl_status sl__report_open(const sl_timeline *timeline, const sl_page_words *words, sl__page *page,
                          sl_error *err);
void sl__report_close(sl__page *page);
/* Writes the object to the page's file. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__report_put_data(sl__page *page, sl_error *err);

/* Writes makespan and bounds, how busy and how covered engines were, and how many kernels ran at
 * once (report_figures.c): members of the page's object, each with a comma before it. */
void sl__report_put_figures(sl__page *p);

/* Writes what there was of memory, kernels and the like at each time, and the ranges of the host
 * (report_time.c): members, too. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__report_put_over_time(sl__page *p, sl_error *err);

#endif
