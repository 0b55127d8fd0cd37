/* kept.h - spans and calls as a timeline keeps them, 48 bytes each with what they waited for.
 *
 * What most operations of a program have in common (names, lines, streams, sizes) is a form, which is
 * kept once. Times are 32-bit differences to the start of the operation's call, numbers of others
 * differences to its own. An operation of which one of these is too large is kept beside, as it is.
 */
#ifndef SL_TIMELINE_KEPT_H
#define SL_TIMELINE_KEPT_H

#include "keys.h"
#include "timeline.h"

typedef struct sl__entry {
    uint64_t correlation;
    int64_t host_start_ns;
    uint32_t form;
    uint32_t host_ns;            /* how long the call took */
    uint32_t start_ns;           /* on the device, since host_start_ns; wide: its index in `wide` */
    uint32_t more;               /* a span: how long it lasts; a call: how far back its target is */
    uint32_t ready_ns;           /* since host_start_ns */
    uint32_t ready_by, start_by; /* how far back; 0: none. start_by may be negative */
    uint8_t ready_cause, start_cause;
    uint8_t marks;
} sl__entry;

/* All that is no form, in full. */
typedef struct sl__wide {
    uint64_t correlation;
    int64_t host_start_ns, host_end_ns;
    int64_t start_ns;
    uint64_t more;
    bool has_target; /* of a call: `more` says which */
    bool is_held;
    sl_hold hold; /* if so */
} sl__wide;

typedef struct sl__kept { /* all zero but for forms.more: none */
    sl__entry *at;
    size_t n, cap;
    bool unsorted; /* not in order of correlation */
    sl__keys forms;
    sl__wide *wide;
    size_t n_wide, cap_wide;
} sl__kept;

enum { SL__SPAN_WORDS = 5, SL__CALL_WORDS = 3 }; /* of a form: 1 + forms.more */

sl_span sl__kept_span(const sl__kept *spans, size_t index);
sl_call sl__kept_call(const sl__kept *calls, size_t index);
/* False: nothing is known of what it waited for. */
bool sl__kept_hold(const sl__kept *kept, size_t index, sl_hold *hold);

/* False: no memory; nothing changed. What held one stays when it is set. */
bool sl__kept_add_span(sl__kept *spans, const sl_span *span);
bool sl__kept_add_call(sl__kept *calls, const sl_call *call);
bool sl__kept_set_span(sl__kept *spans, size_t index, const sl_span *span);
bool sl__kept_set_call(sl__kept *calls, size_t index, const sl_call *call);
/* The first one counts. */
bool sl__kept_set_hold(sl__kept *kept, size_t index, const sl_hold *hold);

void sl__kept_sort(sl__kept *kept);
/* The index of the one with this correlation, or SL_NOT_FOUND: of unsorted ones only the last one is
 * found. */
size_t sl__kept_find(const sl__kept *kept, uint64_t correlation);
/* No more will be added. */
void sl__kept_trim(sl__kept *kept);
void sl__kept_free(sl__kept *kept);

#endif
