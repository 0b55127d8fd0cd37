/* report_head.h - the head of a page: its title, its colours, and its own script and styles. */
#ifndef SL_PICTURES_REPORT_HEAD_H
#define SL_PICTURES_REPORT_HEAD_H

#include "../text/outfile.h"
#include "report_page.h"

/* Of the file that the timeline was read from, or of the script that was recorded; "". */
#define SL__HEAD_NAME_BYTES 160
void sl__head_name(const sl_timeline *timeline, char name[SL__HEAD_NAME_BYTES]);

/* "blocking.json.gz – NVIDIA H200 (simulated)", escaped. SL_ENOMEM. */
sl_status sl__head_put_title(sl__outfile *file, const sl_timeline *timeline, sl_error *err);
/* style.css or script.js of report/, with what they include: the other files, and as the palette
 * the colours of the kinds and of the host's calls, as in the other pictures. SL_ENOMEM, and
 * SL_EBACKEND where the build lacks a part. */
sl_status sl__head_put_part(sl__outfile *file, const char *name, sl_error *err);
/* The source of a Content-Security-Policy that allows this part alone: 'sha256-...'. SL_ENOMEM. */
sl_status sl__head_put_digest(sl__outfile *file, const char *name, sl_error *err);

/* The embedded file of report/ with that name; NULL and SL_EBACKEND: the build lacks it. */
const sl__page_file *sl__head_file(const char *name, sl_error *err);
/* The name in the {{name}} that `mark` begins with; gives what is behind it. NULL and SL_EBACKEND:
 * it does not end, or is too long. */
#define SL__MARK_BYTES 64
const char *sl__head_mark(const char *mark, char name[SL__MARK_BYTES], sl_error *err);

#endif
