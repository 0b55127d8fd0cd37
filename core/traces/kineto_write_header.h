/* kineto_write_header.h - what a trace says of the whole, before its events. */
#ifndef SL_TRACES_KINETO_WRITE_HEADER_H
#define SL_TRACES_KINETO_WRITE_HEADER_H

#include "../text/outfile.h"

/* From the first brace to the "[" of traceEvents: kineto's keys, and "streamlab" with what
 * only we know (see kineto_write.c). */
void sl__kineto_put_header(sl__outfile *file, const sl_timeline *timeline);

#endif
