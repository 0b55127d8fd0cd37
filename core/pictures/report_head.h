/* report_head.h - the head of a page: its title, and its colours. */
#ifndef SL_PICTURES_REPORT_HEAD_H
#define SL_PICTURES_REPORT_HEAD_H

#include "../text/outfile.h"

/* Of the file that the timeline was read from, or of the script that was recorded; "". */
#define SL__HEAD_NAME_BYTES 160
void sl__head_name(const sl_timeline *timeline, char name[SL__HEAD_NAME_BYTES]);

/* "blocking.json.gz – NVIDIA H200 (simulated)", escaped. SL_ENOMEM. */
sl_status sl__head_put_title(sl__outfile *file, const sl_timeline *timeline, sl_error *err);
/* The colours of the kinds and of the host's calls, as in the other pictures. */
void sl__head_put_palette(sl__outfile *file);

#endif
