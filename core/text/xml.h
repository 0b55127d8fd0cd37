/* xml.h - texts in a picture: escaped, measured, shortened. */
#ifndef SL_TEXT_XML_H
#define SL_TEXT_XML_H

#include "text.h"

/* A text that users wrote (any bytes), for content and attributes: what XML 1.0 or a terminal must
 * not get becomes U+FFFD; a line break a blank. At most `max_bytes` of it, then "…"; 0: all. */
void sl_xml_add(sl_text *out, const char *text, size_t max_bytes);

/* About how wide a text of this size is in a sans-serif font, in pixels. Rather too wide:
 * fonts differ. */
int sl_xml_px(const char *text, int size);

/* Whether the text, or enough of it to make sense, fits `room` pixels; then it is in the
 * buffer, its end or (`middle`) its middle replaced by "…". */
bool sl_xml_fit(const char *text, int room, int size, bool middle, char *buffer, size_t bytes);

#endif
