/* packed.h - spans and calls as a timeline keeps them, packed: 48 bytes each with what they waited
 * for.
 *
 * Attributes that most operations of a program share (names, lines, streams, sizes, the thread that
 * made the call, the node of a graph) are kept once. Times are 32-bit differences to the start of
 * the operation's call, numbers of others differences to its own. An operation of which one of
 * these is too large is kept beside, unpacked.
 */
#ifndef SL_TIMELINE_PACKED_H
#define SL_TIMELINE_PACKED_H

#include "keys.h"
#include "timeline.h"

typedef struct sl__packed {
    uint64_t correlation;
    int64_t host_start_ns;
    uint32_t shared;   /* the number of its shared attributes */
    uint32_t host_ns;  /* how long the call took */
    uint32_t start_ns; /* on the device, since host_start_ns; or its index in `unpacked` */
    uint32_t more;     /* a span: how long it lasts; a call: how far back its target is */
    uint32_t ready_ns; /* since host_start_ns */
    uint32_t ready_by, start_by; /* how far back; 0: none. start_by may be negative */
    uint8_t ready_cause, start_cause;
    uint8_t marks;
} sl__packed;

/* All that is not shared, in full. */
typedef struct sl__unpacked {
    uint64_t correlation;
    int64_t host_start_ns, host_end_ns;
    int64_t start_ns;
    uint64_t more;
    bool has_target; /* of a call: `more` says which */
    bool is_held;
    sl_hold hold; /* if so */
} sl__unpacked;

typedef struct sl__packed_list { /* all zero but for shared.more: none */
    sl__packed *at;
    size_t n, cap;
    bool unsorted; /* not in order of correlation */
    sl__keys shared;
    sl__unpacked *unpacked;
    size_t n_unpacked, cap_unpacked;
} sl__packed_list;

enum { SL__SPAN_WORDS = 8, SL__CALL_WORDS = 3 }; /* of shared attributes: 1 + shared.more */

sl_span sl__packed_span(const sl__packed_list *spans, size_t index);
sl_call sl__packed_call(const sl__packed_list *calls, size_t index);
uint32_t sl__packed_stream(const sl__packed_list *spans, size_t index);
/* False: nothing is known of what it waited for. */
bool sl__packed_hold(const sl__packed_list *list, size_t index, sl_hold *hold);
/* Of the host, that made the call. */
uint32_t sl__packed_thread(const sl__packed_list *list, size_t index);
/* False: no graph ran it. */
bool sl__packed_node(const sl__packed_list *spans, size_t index, sl_node_note *node);

/* False: no memory; nothing changed. What held one, its thread and its node stay when it is set. */
bool sl__packed_add_span(sl__packed_list *spans, const sl_span *span);
bool sl__packed_add_call(sl__packed_list *calls, const sl_call *call);
bool sl__packed_set_span(sl__packed_list *spans, size_t index, const sl_span *span);
bool sl__packed_set_call(sl__packed_list *calls, size_t index, const sl_call *call);
/* The first one counts. */
bool sl__packed_set_hold(sl__packed_list *list, size_t index, const sl_hold *hold);
bool sl__packed_set_thread(sl__packed_list *list, size_t index, uint32_t thread);
/* Its launch is 0 or at most UINT32_MAX before it. */
bool sl__packed_set_node(sl__packed_list *spans, size_t index, const sl_node_note *node);

void sl__packed_sort(sl__packed_list *list);
/* The index of the one with this correlation, or SL_NOT_FOUND: of unsorted ones only the last one
 * is found. */
size_t sl__packed_find(const sl__packed_list *list, uint64_t correlation);
/* No more will be added. */
void sl__packed_trim(sl__packed_list *list);
void sl__packed_free(sl__packed_list *list);

#endif
