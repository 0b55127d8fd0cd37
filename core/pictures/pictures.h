/* pictures.h - timelines as charts, pictures and pages: what draws a timeline belongs here; what is
 * computed for it, in timeline/.
 */
#ifndef SL_PICTURES_H
#define SL_PICTURES_H

#include "../streamlab.h"
#include "../timeline/causes.h"

/* Each file is written to a temporary file beside `path` and renamed: a failure leaves
 * an old file whole. SL_EIO names the path. */

typedef enum sl_rows { SL_ROWS_STREAMS, SL_ROWS_ENGINES } sl_rows;
typedef struct sl_gantt_options {
    int columns; /* width of the whole chart; 0: 80 */
    bool unicode, colour;
    int64_t from_ns, to_ns; /* range relative to the first span's start; to 0: all */
    sl_rows rows;
    const sl_timeline *beside; /* not NULL: the chart is as wide as that of this timeline, and its
                                 * range is that of the longer of both */
} sl_gantt_options;
/* The Gantt chart, a row a stream or engine (gantt_text.c). Appends to *out. */
sl_status sl_timeline_gantt(const sl_timeline *timeline, const sl_gantt_options *options,
                            sl_text *out, sl_error *err);

typedef enum sl_theme { SL_THEME_AUTO, SL_THEME_LIGHT, SL_THEME_DARK } sl_theme;
typedef struct sl_picture_options {
    sl_rows rows;
    sl_theme theme;         /* AUTO: as the viewer prefers */
    int64_t from_ns, to_ns; /* range relative to the first span's start; to 0: all */
    int64_t width_px;       /* 0: 960 */
    bool no_arrows;         /* leave out the arrows of events and waits */
} sl_picture_options;
/* A picture for papers and slides (gantt_svg.c). */
sl_status sl_timeline_save_svg(const sl_timeline *timeline, const char *path,
                               const sl_picture_options *options, sl_error *err);

/* The words of a page, which the caller composes. Texts are borrowed. */
enum { SL_PAGE_FINDINGS = 40 }; /* more are only counted */
typedef struct sl_page_words {
    const char *verdict;
    const char *doubts; /* a line each */
    const char *sentences[SL_PAGE_FINDINGS];
    const char *remedies[SL_PAGE_FINDINGS]; /* NULL: there is none */
    const char *titles[SL_CAUSES];          /* of a cause, NULL for NONE */
    const char *shorts[SL_CAUSES];          /* what an operation waited for; {} is its name */
} sl_page_words;
/* One page that needs nothing else: chart, tables, explanation (report_html.c). Without words
 * (NULL) causes are shown by their codes. */
sl_status sl_timeline_save_html(const sl_timeline *timeline, const char *path,
                                const sl_page_words *words, sl_error *err);

#endif
