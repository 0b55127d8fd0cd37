/* t-10-base.c - what all rooms use: arrays that grow, search, lists, numbers, hashes, whole reads. */
#include "fake_backend.h"

#include "../../core/base.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void arrays_grow(void)
{
    int32_t *numbers = NULL;
    size_t cap = 0, n = 0;
    while (n < 1000 && SL__GROW(numbers, cap, n + 1)) {
        numbers[n] = (int32_t)n;
        n++;
    }
    bool kept = true;
    for (size_t i = 0; i < n; i++)
        kept = kept && numbers[i] == (int32_t)i;
    ok(n == 1000 && kept, "an array that grows by one keeps all its elements");
    is_int((int64_t)cap, 1024, "and doubles from 16 elements on");
    int32_t *before = numbers;
    ok(SL__GROW(numbers, cap, 1024) && numbers == before,
       "an array that has room stays where it is");
    ok(SL__GROW(numbers, cap, 5000) && cap == 8192, "an array may grow by more than one step");
    before = numbers;
    ok(!SL__GROW(numbers, cap, SIZE_MAX / 2) && numbers == before && cap == 8192,
       "more elements than bytes can be counted are refused, and nothing changes");
    ok(!SL__GROW(numbers, cap, SIZE_MAX) && numbers == before && cap == 8192,
       "so are more than a power of two can be");
    free(numbers);

    struct pair {
        double x;
        uint8_t y;
    } *pairs = NULL;
    cap = 0;
    bool zero = SL__GROW_ZEROED(pairs, cap, 1);
    for (size_t i = 0; zero && i < cap; i++)
        pairs[i] = (struct pair){ 1, 1 };
    const size_t first = cap;
    zero = zero && SL__GROW_ZEROED(pairs, cap, 100);
    for (size_t i = 0; zero && i < cap; i++)
        zero = i < first ? pairs[i].y == 1 : pairs[i].x == 0 && pairs[i].y == 0;
    ok(zero && cap == 128, "elements that come in addition are zero, the others stay");
    free(pairs);
}

/* Beside a walk from the first element, for all lengths and all keys. */
static void search_finds_the_first(void)
{
    int numbers[40];
    bool same = true;
    for (size_t i = 0; i < 40; i++)
        numbers[i] = (int)(i / 3) * 2;
    for (size_t n = 0; n <= 40; n++)
        for (int key = -1; key < 30; key++) {
            size_t at, expected = 0;
            SL__SEARCH(at, n, numbers[at] < key);
            while (expected < n && numbers[expected] < key)
                expected++;
            same = same && at == expected;
        }
    ok(same, "a search finds the first element that does not come before the key");
    size_t at = 7;
    SL__SEARCH(at, 0, numbers[at] < 5);
    is_int((int64_t)at, 0, "and 0 where there are no elements");
}

typedef struct item {
    int number;
    struct item *next, **link;
    struct item *other_next, **other_link;
} item;

static int digits(const item *list)
{
    int all = 0;
    for (; list; list = list->next)
        all = 10 * all + list->number;
    return all;
}

static void lists_lose_any_item(void)
{
    item items[4], *list = NULL, *other = NULL;
    for (int i = 0; i < 4; i++) {
        items[i].number = i + 1;
        SL__PUSH(list, &items[i], next, link);
        SL__PUSH(other, &items[i], other_next, other_link);
    }
    is_int(digits(list), 4321, "an item comes in at the front of its list");
    SL__UNLINK(&items[1], next, link);
    is_int(digits(list), 431, "one in the middle leaves");
    SL__UNLINK(&items[3], next, link);
    is_int(digits(list), 31, "the first leaves");
    SL__UNLINK(&items[0], next, link);
    is_int(digits(list), 3, "the last leaves");
    SL__PUSH(list, &items[1], next, link);
    SL__UNLINK(&items[2], next, link);
    SL__UNLINK(&items[1], next, link);
    ok(!list, "a list that all have left is empty");
    ok(other == &items[3] && other->other_next == &items[2] && items[0].other_next == NULL,
       "and the other list of the same items has them all");
}

static void numbers_are_compared(void)
{
    const int64_t least = INT64_MIN, one = 1;
    const uint64_t most = UINT64_MAX, small = 3;
    const size_t bytes = 5;
    ok(sl__min(least, one) == least && sl__max(least, one) == one, "whole numbers with a sign");
    ok(sl__min(most, small) == small && sl__max(small, most) == most, "and without one");
    ok(sl__min(bytes, (size_t)4) == 4 && sl__max(bytes, (size_t)4) == 5, "sizes");
    ok(sl__min(0.25, 0.5) == 0.25 && sl__max(0.25, 0.5) == 0.5, "floating point");
    ok(sl__min(-1, 2) == -1 && sl__max(-1, 2) == 2, "int");
    ok(sl__min((double)NAN, 1.0) == 1 && isnan(sl__max(1.0, (double)NAN)),
       "of a NaN and a number the second is taken");
}

/* The values of the empty text, of "a" and of "foobar" are those of the FNV specification. */
static void hashes_are_fnv(void)
{
    const uint64_t start = SL__HASH_START;
    ok(sl__hash(start, "", 0) == UINT64_C(0xcbf29ce484222325), "the hash of nothing is the basis");
    ok(sl__hash(start, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c), "of one letter");
    ok(sl__hash(start, "foobar", 6) == UINT64_C(0x85944171f73967e8), "of six");
    ok(sl__hash(sl__hash(start, "foo", 3), "bar", 3) == UINT64_C(0x85944171f73967e8),
       "and of six in two parts");
    unsigned char bytes[100] = { 0 };
    const uint64_t before = sl__checksum(1, bytes, sizeof bytes);
    bool differs = true;
    for (int bit = 0; bit < 800; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        differs = differs && sl__checksum(1, bytes, sizeof bytes) != before;
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    ok(differs, "a checksum differs where any bit does");
}

/* A graph whose node i comes behind those of before[i]. */
typedef struct small_graph {
    sl__node_list before[4];
} small_graph;

static sl__node_list before_small(const void *graph, uint32_t node)
{
    return ((const small_graph *)graph)->before[node];
}

/* 0 -> 1 -> 2, and 3 behind all of them: its edges from 0 and 1 say nothing. */
static void edges_are_implied(void)
{
    static const uint32_t first[] = { 0 }, second[] = { 0, 1 }, third[] = { 2, 1, 0 };
    const small_graph graph = { { { NULL, 0 }, { first, 1 }, { second, 2 }, { third, 3 } } };
    uint32_t marks[4] = { 0 };
    sl__mark_implied(graph.before[3], before_small, &graph, marks, 9);
    ok(marks[0] == 9 && marks[1] == 9, "what comes before a node before needs no edge");
    ok(marks[2] == 0 && marks[3] == 0, "what no other one implies does");
    sl__mark_implied(graph.before[0], before_small, &graph, marks, 8);
    sl__mark_implied(graph.before[1], before_small, &graph, marks, 8);
    ok(marks[0] == 9 && marks[1] == 9, "a node behind one root implies nothing");

    uint32_t many[65];
    for (uint32_t i = 0; i < 65; i++)
        many[i] = 2;
    sl__mark_implied((sl__node_list){ many, 65 }, before_small, &graph, marks, 7);
    is_int(marks[1], 9, "behind 65 nodes nothing is looked at");
    sl__mark_implied((sl__node_list){ many, 64 }, before_small, &graph, marks, 7);
    is_int(marks[1], 7, "behind 64 it is");
}

/* Through a pipe that takes and gives a part at a time. */
static void whole_reads_and_writes(void)
{
    enum { BYTES = 1 << 20 };
    char *sent = malloc(BYTES), *got = calloc(1, BYTES);
    int ends[2];
    for (int i = 0; i < BYTES; i++)
        sent[i] = (char)(i * 7 + i / 251);
    if (pipe(ends) != 0) return;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        _exit(sl__write_all(ends[1], sent, BYTES, NULL) ? 0 : 1);
    }
    close(ends[1]);
    ok(sl__read_all(ends[0], got, BYTES, NULL) && memcmp(sent, got, BYTES) == 0,
       "a megabyte comes through a pipe whole");
    int status = -1;
    waitpid(child, &status, 0);
    is_int(status, 0, "and was written whole");
    ok(!sl__read_all(ends[0], got, 1, NULL), "a read beyond the end fails");
    ok(sl__read_all(ends[0], got, 0, NULL), "a read of nothing does not");
    close(ends[0]);
    const int full = open("/dev/null", O_RDONLY);
    ok(!sl__write_all(full, sent, 1, NULL), "a write that the descriptor refuses fails");
    close(full);
    free(sent);
    free(got);
}

static void one_sentence(void)
{
    sl_error err;
    is_int(sl__no_memory(&err, "%d streams", 7), SL_ENOMEM, "no memory is SL_ENOMEM");
    is_str(err.msg, "out of host memory for 7 streams", "with the sentence for it");
    is_int(sl__no_memory(NULL, "a graph"), SL_ENOMEM, "also for those who take no sentence");
}

int main(void)
{
    plan(0);
    arrays_grow();
    search_finds_the_first();
    lists_lose_any_item();
    numbers_are_compared();
    edges_are_implied();
    hashes_are_fnv();
    whole_reads_and_writes();
    one_sentence();
    return done_testing();
}
