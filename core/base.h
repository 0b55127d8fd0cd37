/* base.h - what C's library lacks and every room needs: arrays that grow, search, linked
 * lists, the smaller of two numbers, a hash, whole reads and writes. It knows nothing of streams or
 * devices. A macro in capitals evaluates what it is given more than once. */
#ifndef SL_BASE_H
#define SL_BASE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For functions that run seldom beside a path that runs often: their code lies apart from it, and
 * their variables take no room in its frames. */
#define SL__RARE __attribute__((cold, noinline))

/* For steps of the path of each call that have a name for readers alone: behind CUDA's code, which
 * leaves nothing of ours in the nearest caches, each line of code costs time. */
#define SL__STEP static inline __attribute__((always_inline))

/* ---- memory ---- */

/* Room for n elements in `array`, a pointer that has room for `cap` of them (size_t; NULL and 0 at
 * first). A larger array is at least twice as large. False: out of memory, and nothing has
 * changed. */
#define SL__GROW(array, cap, n) \
    ((n) <= (cap) || sl__grow(&(array), &(cap), n, sizeof *(array), false))
/* The same, and elements that come in addition are all zero. */
#define SL__GROW_ZEROED(array, cap, n) \
    ((n) <= (cap) || sl__grow(&(array), &(cap), n, sizeof *(array), true))
bool sl__grow(void *array, size_t *cap, size_t n, size_t element_bytes, bool zeroed);

/* Gives back the room that n elements of `array` do not need. */
#define SL__TRIM(array, cap, n) sl__trim(&(array), &(cap), n, sizeof *(array))
void sl__trim(void *array, size_t *cap, size_t n, size_t element_bytes);

/* Fails with SL_ENOMEM and the one sentence for it: `sl__no_memory(err, "%zu streams", n)`. What
 * the memory was for is a literal, and the values that it has places for. Needs streamlab.h. */
#define sl__no_memory(err, ...) sl_fail(err, SL_ENOMEM, "out of host memory for " __VA_ARGS__)

/* ---- search ---- */

/* Sets `at` (size_t) to the first index in [0, n) for which `comes_before`, an expression of `at`,
 * is false; to n where there is none. It is true for all indices before that, and none behind. */
#define SL__SEARCH(at, n, comes_before)       \
    do {                                      \
        size_t low_ = 0, high_ = (n);         \
        while (low_ < high_) {                \
            (at) = low_ + (high_ - low_) / 2; \
            if (comes_before)                 \
                low_ = (at) + 1;              \
            else                              \
                high_ = (at);                 \
        }                                     \
        (at) = low_;                          \
    } while (0)

/* The same, faster where that is near the `at` before: from there on in steps that double. */
#define SL__SEARCH_NEAR(at, n, comes_before)                           \
    do {                                                               \
        size_t low_ = 0, high_ = (n), step_ = 0;                       \
        bool near_ = true, up_ = (at) < high_ && (comes_before);       \
        if (up_)                                                       \
            low_ = (at) + 1;                                           \
        else if ((at) < high_)                                         \
            high_ = (at);                                              \
        while (low_ < high_) {                                         \
            const size_t half_ = (high_ - low_) / 2;                   \
            const size_t by_ = near_ && step_ < half_ ? step_ : half_; \
            (at) = up_ ? low_ + by_ : high_ - 1 - by_;                 \
            const bool before_ = (comes_before);                       \
            if (before_)                                               \
                low_ = (at) + 1;                                       \
            else                                                       \
                high_ = (at);                                          \
            near_ = near_ && before_ == up_;                           \
            step_ = 2 * step_ + 1;                                     \
        }                                                              \
        (at) = low_;                                                   \
    } while (0)

/* The index of a name in an array of names, or of structs, whose first name is `first`; -1: it is
 * not there. */
#define SL__FIND_NAME(array, first, name) \
    sl__find_name(&(first), sizeof *(array), sizeof(array) / sizeof *(array), name)
int sl__find_name(const char *const *first, size_t stride, size_t n, const char *name);

/* ---- order ---- */

/* Defines what qsort and bsearch compare items of `type` with: a static function `name`. Items come
 * in the order of the keys, of which the first that differs decides: expressions of `x`, a pointer
 * to an item, at most eight of them. */
#define SL__ORDER(name, type, ...)                         \
    static int name(const void *left_, const void *right_) \
    {                                                      \
        SL__KEYS(type, __VA_ARGS__)                        \
        return 0;                                          \
    }                                                      \
    struct sl__order_ends
/* A key that is a whole number, for the largest first. */
#define SL__DOWN(key) (~(0 + (key)))
/* clang-format off */
#define SL__KEYS(t, ...) SL__NINTH(__VA_ARGS__, SL__KEY8, SL__KEY7, SL__KEY6, SL__KEY5, SL__KEY4, \
                                   SL__KEY3, SL__KEY2, SL__KEY1, )(t, __VA_ARGS__)
#define SL__NINTH(a, b, c, d, e, f, g, h, ninth, ...) ninth
#define SL__KEY1(type, key)                                                                    \
    {                                                                                          \
        type const *x = left_;                                                                 \
        const __typeof__(0 + (key)) one_ = (key);                                              \
        x = right_;                                                                            \
        if (one_ != (key)) return one_ < (key) ? -1 : 1;                                       \
    }
#define SL__KEY2(t, key, ...) SL__KEY1(t, key) SL__KEY1(t, __VA_ARGS__)
#define SL__KEY3(t, key, ...) SL__KEY1(t, key) SL__KEY2(t, __VA_ARGS__)
#define SL__KEY4(t, key, ...) SL__KEY1(t, key) SL__KEY3(t, __VA_ARGS__)
#define SL__KEY5(t, key, ...) SL__KEY1(t, key) SL__KEY4(t, __VA_ARGS__)
#define SL__KEY6(t, key, ...) SL__KEY1(t, key) SL__KEY5(t, __VA_ARGS__)
#define SL__KEY7(t, key, ...) SL__KEY1(t, key) SL__KEY6(t, __VA_ARGS__)
#define SL__KEY8(t, key, ...) SL__KEY1(t, key) SL__KEY7(t, __VA_ARGS__)
/* clang-format on */

/* ---- lists ---- */

/* A list is a pointer to its first item. An item has a pointer `next` to the next one, and a
 * pointer `link` to the pointer that leads to it, so that it can leave without a walk. The names of
 * the two are given, since an item may be in several lists. Leaving changes nothing in the item. */
#define SL__PUSH(list, item, next, link)          \
    do {                                          \
        (item)->next = (list);                    \
        (item)->link = &(list);                   \
        if ((list)) (list)->link = &(item)->next; \
        (list) = (item);                          \
    } while (0)
#define SL__UNLINK(item, next, link)                         \
    do {                                                     \
        *(item)->link = (item)->next;                        \
        if ((item)->next) (item)->next->link = (item)->link; \
    } while (0)

/* ---- numbers ---- */

/* The smaller and the larger of two numbers of one type; whole numbers without a sign as uint64_t,
 * others as int64_t. Where a double is NaN: the second one. */
#define sl__min(a, b) SL__BY_TYPE((a) + (b), sl__min_double, sl__min_unsigned, sl__min_signed)(a, b)
#define sl__max(a, b) SL__BY_TYPE((a) + (b), sl__max_double, sl__max_unsigned, sl__max_signed)(a, b)
/* clang-format off */
#define SL__BY_TYPE(number, of_double, of_unsigned, of_signed) \
    _Generic((number), float: of_double, double: of_double, unsigned long: of_unsigned, \
             unsigned long long: of_unsigned, default: of_signed)
/* clang-format on */
static inline double sl__min_double(double a, double b) { return a < b ? a : b; }
static inline double sl__max_double(double a, double b) { return a > b ? a : b; }
static inline uint64_t sl__min_unsigned(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t sl__max_unsigned(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline int64_t sl__min_signed(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t sl__max_signed(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- graphs ---- */

/* Nodes by their numbers. */
typedef struct sl__node_list {
    const uint32_t *at;
    uint32_t n;
} sl__node_list;

/* Sets marks[x] = mark for each x that comes before one of the nodes `before`: a node behind all of
 * these needs no edge from x of its own. `before_of` gives what comes before a node of the graph.
 * Sets of more than 64 nodes are passed over, so that the edges behind them all stay. */
void sl__mark_implied(sl__node_list before,
                      sl__node_list (*before_of)(const void *graph, uint32_t node),
                      const void *graph, uint32_t *marks, uint32_t mark);

/* ---- hashes ---- */

/* FNV-1a, 64 bits: `sum` after n more bytes, the same on every machine.
 * https://datatracker.ietf.org/doc/html/draft-eastlake-fnv */
#define SL__HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t sl__hash(uint64_t sum, const void *bytes, size_t n);

/* For megabytes: eight bytes at a time, in the machine's own order. */
uint64_t sl__checksum(uint64_t sum, const void *bytes, size_t n);

/* ---- descriptors ---- */

/* All n bytes, in as many calls as it takes. They block as the descriptor does, and go on after a
 * signal unless *interrupted (may be NULL) is set by then. False: an error, which errno has, or the
 * file's end; some bytes may have passed. */
bool sl__read_all(int fd, void *to, size_t n, const volatile sig_atomic_t *interrupted);
bool sl__write_all(int fd, const void *from, size_t n, const volatile sig_atomic_t *interrupted);

#endif
