/* report_page.h - the sources of the page that report_html.c writes: the files of
 * core/pictures/report/, built into the library. Their definition is generated at
 * build time; names are paths from the root of the source tree. An entry without a
 * name ends it. */
#ifndef SL_PICTURES_REPORT_PAGE_H
#define SL_PICTURES_REPORT_PAGE_H

#include <stddef.h>

typedef struct sl__page_file {
    const char *name;
    const char *data; /* NUL-terminated */
    size_t len;
} sl__page_file;

extern const sl__page_file sl__page_files[];

#endif
