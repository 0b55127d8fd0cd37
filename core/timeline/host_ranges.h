/* host_ranges.h - what the host was about while it made its calls: stretches of time of a thread
 * that have a name, as profilers and programs mark them. They nest, and may overlap. A timeline may
 * have five times as many of them as operations: each takes 32 bytes.
 */
#ifndef SL_TIMELINE_HOST_RANGES_H
#define SL_TIMELINE_HOST_RANGES_H

#include "../streamlab.h"

typedef enum sl_host_range_kind {
    SL_HOST_RANGE_OPERATOR,   /* of PyTorch: "aten::mm" */
    SL_HOST_RANGE_PYTHON,     /* a function in Python: "train.py(12): main"; */
    SL_HOST_RANGE_LIBRARY,    /* the same of PyTorch itself, or built into Python */
    SL_HOST_RANGE_MODULE,     /* of PyTorch: "Linear_0" */
    SL_HOST_RANGE_ANNOTATION, /* that the program gave PyTorch's profiler */
    SL_HOST_RANGE_STEP,       /* of the whole program: its thread does not count */
    SL_HOST_RANGE_NVTX,
    SL_HOST_RANGE_KINDS
} sl_host_range_kind;

/* From start_ns on, until before end_ns. */
typedef struct sl_host_range {
    int64_t start_ns, end_ns;
    uint32_t name;   /* text id */
    uint32_t thread; /* as that of a call: below SL_MOST_THREADS */
    /* Of an operator of PyTorch: 1 + the sequence number of the node of autograd that it makes, or,
     * when it runs in the backward pass, that ran it; 0: not known. At most SL_MOST_NODES. */
    uint32_t node;
    uint8_t kind;
    bool is_backward;
} sl_host_range;
enum { SL_MOST_NODES = INT32_MAX };

const char *sl_host_range_kind_name(sl_host_range_kind kind); /* "operator", "nvtx" */
/* The kind of that name; false: there is none, and *kind stays. */
bool sl_host_range_kind_parse(const char *name, sl_host_range_kind *kind);

/* Before finish. SL_EINVAL: no such kind, thread, node or text, or it ends before it starts.
 * SL_ENOMEM. In a timeline that keeps a summary it has no effect. */
sl_status sl_timeline_add_host_range(sl_timeline *timeline, const sl_host_range *range,
                                     sl_error *err);

/* ---- reading, after finish ---- */

/* In order of kind, thread, start, and the longer one first; of those that share both times the one
 * that was added first. */
size_t sl_timeline_host_range_count(const sl_timeline *timeline);
sl_host_range sl_timeline_host_range(const sl_timeline *timeline, size_t index);
/* The index of the first one of a kind; *n is how many there are. */
size_t sl_timeline_host_ranges_of(const sl_timeline *timeline, sl_host_range_kind kind, size_t *n);

/* The innermost range of a kind that is open at a time in a thread: of those that are, the one that
 * started last. SL_NOT_FOUND: none is. In O(log n). */
size_t sl_timeline_find_host_range(const sl_timeline *timeline, sl_host_range_kind kind,
                                   uint32_t thread, int64_t ns);
/* Its name, a text id; 0: none is open. */
uint32_t sl_timeline_host_range_name(const sl_timeline *timeline, sl_host_range_kind kind,
                                     uint32_t thread, int64_t ns);
/* As sl_timeline_find_host_range; where none is open in the thread, the one that started last of
 * those that are open in other threads of its caller (thread_names.h): while autograd works, the
 * function that has called backward() is open in the main thread. */
size_t sl_timeline_find_range_of_caller(const sl_timeline *timeline, sl_host_range_kind kind,
                                        uint32_t thread, int64_t ns);
/* The innermost one of the same kind and thread that the range with this index lies in, or
 * SL_NOT_FOUND. In O(log n). */
size_t sl_timeline_host_range_around(const sl_timeline *timeline, size_t index);

/* Of an operator in the backward pass: the one that made the node which it is part of. Of one that
 * made a node that a backward pass has run: itself. Else SL_NOT_FOUND. */
size_t sl_timeline_forward_of(const sl_timeline *timeline, size_t index);
/* Whether some are of the backward pass, and whether the forward one of any is known. */
bool sl_timeline_has_backward(const sl_timeline *timeline);
bool sl_timeline_has_nodes(const sl_timeline *timeline);

/* ---- for the timeline and for readers of files ---- */

enum { SL__RANGE_BLOCK = 64, SL__RANGE_LEVELS = 11 }; /* 64^11 ranges need more than 64 bits */

typedef struct sl__host_ranges { /* all zero: none */
    struct sl__kept_range *at;
    size_t n, cap;
    bool is_unsorted;
    /* The latest end in each block of 64 ranges, in each block of 64 of these blocks, and so on. */
    int64_t *latest_ns[SL__RANGE_LEVELS];
    int n_levels;
    bool has_backward, is_linked; /* some are of the backward pass, and have a forward one */
} sl__host_ranges;

/* Before finish, of a file that is read: subtracts `base_ns` from all times, and replaces each
 * thread t by threads[t]; t is below `n`, or the range is left out, as it is where threads[t] is
 * SL__NO_THREAD, or where its times leave a timeline's. A range that begins at 0 has no time where
 * `base_ns` is a second or more: the file's clock did not begin with it. */
#define SL__NO_THREAD UINT32_MAX
void sl__host_ranges_move(sl_timeline *timeline, int64_t base_ns, const uint32_t *threads,
                          size_t n);
void sl__host_ranges_settle(sl__host_ranges *ranges);
void sl__host_ranges_free(sl__host_ranges *ranges);

/* Once ranges are in order (backward.c): finds the forward operators of those in the backward pass.
 * Without memory none is found. */
void sl__timeline_find_forward(sl_timeline *timeline);
/* Once ranges are in order: one has another name, a text id. */
void sl__host_ranges_rename(sl__host_ranges *ranges, size_t index, uint32_t name);
/* Notes that one has been found; both are indices. */
void sl__host_ranges_link(sl__host_ranges *ranges, size_t backward, size_t forward);

#endif
