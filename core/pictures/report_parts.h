/* report_parts.h - a page while it is written: what its files share, and pieces of its JSON. */
#ifndef SL_PICTURES_REPORT_PARTS_H
#define SL_PICTURES_REPORT_PARTS_H

#include "../text/json.h"
#include "../text/outfile.h"
#include "../timeline/lanes.h"
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

/* As times are in the page. */
static inline int64_t since(const sl__page *p, int64_t ns) { return ns - p->base_ns; }

/* Writes makespan and bounds, how busy and how covered engines were, and how many kernels ran at
 * once (report_figures.c): members of the page's object, each with a comma before it. */
void sl__report_put_figures(sl__page *p);

#endif
