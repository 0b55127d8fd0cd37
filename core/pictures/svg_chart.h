/* svg_chart.h - a timeline's picture while it is drawn: what its files share.
 *
 * gantt_svg.c places the parts, svg_marks.c draws what lies in the rows, svg_words.c says
 * what it is.
 */
#ifndef SL_PICTURES_SVG_CHART_H
#define SL_PICTURES_SVG_CHART_H

#include "arrows.h"
#include "axis.h"
#include "svg_pen.h"
#include "svg_rows.h"

#define SL__LABEL_BYTES 160

enum { /* font sizes in pixels */
       SL__BIG = 15,
       SL__NORMAL = 12,
       SL__SMALL = 11,
       SL__TINY = 9
};

typedef struct sl__chart {
    const sl_timeline *timeline;
    const sl_picture_options *options;
    sl__pen pen;
    sl_text about; /* the picture in words, escaped */
    sl__scale scale;
    sl__rows rows;
    sl__arrows events, waits; /* of streams, of the host */
    sl__axis axis;
    int64_t first_ns;                 /* of the timeline */
    int width, left, right, top;      /* of the picture; edges of the rows, in pixels */
    int y;                            /* where drawing has come to */
    unsigned kinds;                   /* bit per kind of bar drawn */
    unsigned looks;                   /* bit per sl__host_look drawn */
    bool gaps;                        /* a bar of several operations is lighter, as it has gaps */
    bool waited, unheld, host_waited; /* arrows drawn: work waited, or did not, the host did */
} sl__chart;

/* Where a time lies in the picture. */
static inline int64_t sl__chart_x(const sl__chart *c, int64_t ns)
{
    return SL__PX_OF(c->left) + sl__scale_x(&c->scale, ns);
}

/* Whether some of the host's calls are shown. */
static inline bool sl__chart_has_host(const sl__chart *c)
{
    bool any = false;
    for (size_t i = 0; i < c->rows.n_hosts; i++)
        any |= c->rows.hosts[i].n_bars > 0;
    return any;
}

/* Whether some of the timeline is not shown. */
static inline bool sl__chart_is_part(const sl__chart *c)
{
    return c->scale.from_ns > c->first_ns
           || c->scale.to_ns < c->first_ns + sl_timeline_makespan_ns(c->timeline);
}

/* ---- svg_words.c ---- */

/* Of an engine or a stream. */
const char *sl__chart_row_name(const sl__chart *c, uint32_t id, char buffer[SL_STREAM_NAME_BYTES]);
/* Of a thread of the host: "host", and of others than the first "thread 2". */
const char *sl__chart_host_name(const sl__row *row, char buffer[SL_STREAM_NAME_BYTES]);
/* What fits into a bar, if anything does. */
bool sl__chart_label(const sl__chart *c, const sl__bar *bar, int size,
                     char buffer[SL__LABEL_BYTES]);
bool sl__chart_call_label(const sl__chart *c, const sl__bar *bar, int size,
                          char buffer[SL__LABEL_BYTES]);
/* Tooltips, escaped. */
void sl__chart_tooltip(const sl__chart *c, const sl__bar *bar);
void sl__chart_call_tooltip(const sl__chart *c, const sl__bar *bar);
void sl__chart_event_tooltip(const sl__chart *c, const sl__arrow *arrow);
/* How long it is, and between which times other runs are, if that is known. */
void sl__chart_makespan(const sl__chart *c, char text[SL__RANGE_BYTES]);
/* A description for readers who cannot see the picture, into c->about. */
void sl__chart_describe(sl__chart *c, const sl_bounds *bounds);

/* ---- svg_marks.c ---- */

int sl__row_bottom(const sl__row *row); /* in pixels */
void sl__chart_put_bars(sl__chart *c, const sl__row *row);
void sl__chart_put_host(sl__chart *c, const sl__row *row);
void sl__chart_put_arrows(sl__chart *c);

#endif
