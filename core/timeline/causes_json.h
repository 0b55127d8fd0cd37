/* causes_json.h - the verdict and the causes as JSON. */
#ifndef SL_TIMELINE_CAUSES_JSON_H
#define SL_TIMELINE_CAUSES_JSON_H

#include "timeline.h"

/* Two fields of an object, "verdict" and "causes", without a comma behind them. */
void sl__causes_put_json(const sl_timeline *timeline, const sl_explanation *explanation,
                         sl_text *out);

#endif
