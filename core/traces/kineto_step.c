/* kineto_step.c - a step through a file that is read a part at a time. */
#include "kineto_read.h"

sl_status sl__reader_step(sl__reader *r, sl__step *step, sl_error *err)
{
    const bool first = r->first;
    for (bool more = true;;) {
        const sl__scan from = r->scan;
        r->scan.hit_end = false;
        sl_status status = step(r, err);
        if (!r->scan.hit_end) return status;
        const sl__scan to = r->scan;
        r->scan = from;
        sl_status got = sl__parts_more(&r->parts, &r->scan, &more, err);
        if (got != SL_OK) return got;
        if (!more) {
            r->scan = to;
            return status;
        }
        r->first = first;
    }
}
