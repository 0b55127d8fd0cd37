/* Philox4x32-10 against Random123's known answers; the uniform and the normal
 * tensor against their distributions and against themselves in slices. */
#include "../../core/numbers/philox.h"
#include "../../core/numbers/philox_core.h"
#include "../../core/numbers/philox_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"

static void words_of(const uint32_t counter[4], const uint32_t key[2], uint32_t words[4])
{
    memcpy(words, counter, 4 * sizeof *words);
    philox_rounds(words, key[0], key[1]);
}

static void known_answers(void)
{
    static const struct {
        uint32_t counter[4], key[2], want[4];
        const char *name;
    } answers[] = {
        { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 }, "zeros" },
        { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
          { 0xffffffff, 0xffffffff },
          { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd },
          "ones" },
        { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
          { 0xa4093822, 0x299f31d0 },
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 },
          "the digits of pi" },
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        uint32_t got[4];
        words_of(answers[i].counter, answers[i].key, got);
        ok(memcmp(got, answers[i].want, sizeof got) == 0, "Random123's known answer for %s",
           answers[i].name);
    }
}

typedef void (*words_fn)(uint64_t seed, uint64_t id, uint64_t block, size_t n_groups,
                         uint32_t *words);

/* From a block whose number carries into its upper half on the way. */
static void blocks_side_by_side(words_fn make, const char *how)
{
    enum { GROUPS = 3, WORDS = GROUPS * PHILOX_SIDE_WORDS };
    const uint64_t seed = UINT64_C(0x123456789abcdef0), id = UINT64_C(0x8000000000000007);
    const uint64_t first = UINT64_C(0x1fffffff3);
    uint32_t got[WORDS + 1];
    bool same = true;
    memset(got, 0xff, sizeof got);
    make(seed, id, first, GROUPS, got);
    for (uint64_t i = 0; i < WORDS / 4; i++) {
        const uint32_t counter[4] = {
            (uint32_t)(first + i),
            (uint32_t)((first + i) >> 32),
            7,
            0x80000000u,
        };
        const uint32_t key[2] = { 0x9abcdef0u, 0x12345678u };
        uint32_t want[4];
        words_of(counter, key, want);
        same = same && memcmp(got + 4 * i, want, sizeof want) == 0;
    }
    ok(same, "blocks side by side are those one by one, %s", how);
    ok(got[WORDS] == 0xffffffffu, "and nothing is written behind them, %s", how);
}

static void uniform_follows_its_definition(void)
{
    const uint64_t seed = UINT64_C(0x123456789abcdef0), id = UINT64_C(0x8000000000000007);
    const uint64_t first = (UINT64_C(1) << 34) + 3; /* the block number needs both words */
    float got[9];
    philox_uniform(seed, id, first, 9, got);
    bool same = true;
    for (uint64_t i = 0; i < 9; i++) {
        const uint64_t block = (first + i) / 4;
        const uint32_t counter[4] = { (uint32_t)block, (uint32_t)(block >> 32), 7, 0x80000000u };
        const uint32_t key[2] = { 0x9abcdef0u, 0x12345678u };
        uint32_t words[4];
        words_of(counter, key, words);
        same = same && (double)got[i] == (words[(first + i) % 4] >> 8) / 16777216.0;
    }
    ok(same, "uniform: seed is the key, block and tensor id are the counter, (x >> 8) 2^-24");
}

static void normal_follows_its_definition(void)
{
    const uint64_t seed = UINT64_C(0x123456789abcdef0), id = UINT64_C(0x8000000000000007);
    const uint64_t first = (UINT64_C(1) << 33) + 1; /* the block number needs both words */
    float got[5];
    philox_normal(seed, id, first, 5, got);
    bool same = true;
    for (uint64_t i = 0; i < 5; i++) {
        const uint64_t block = (first + i) / 2;
        const uint32_t counter[4] = { (uint32_t)block, (uint32_t)(block >> 32), 7, 0x80000000u };
        const uint32_t key[2] = { 0x9abcdef0u, 0x12345678u };
        uint32_t words[4];
        words_of(counter, key, words);
        const uint32_t *pair = (first + i) % 2 ? words + 2 : words;
        same = same && got[i] == philox_normal_number(pair[0], pair[1]);
    }
    ok(same, "normal: two words an element, of blocks counted in the same way");
}

typedef void (*fill_fn)(uint64_t seed, uint64_t id, uint64_t first, size_t n, float *out);

static void slices_are_slices(fill_fn fill, const char *name)
{
    enum { N = 64, LONG = 2000 };
    float whole[N], part[N], longer[LONG], pieces[LONG];
    bool same = true;
    fill(5, 6, 0, N, whole);
    for (size_t first = 0; first < N; first++)
        for (size_t n = 0; first + n <= N; n++) {
            memset(part, 0xff, sizeof part);
            fill(5, 6, first, n, part);
            same = same && memcmp(part, whole + first, n * sizeof *part) == 0;
        }
    ok(same, "%s: every slice is the same slice of the whole", name);
    fill(5, 6, 1, LONG, longer);
    for (size_t i = 0; i < LONG; i++)
        fill(5, 6, 1 + i, 1, pieces + i);
    ok(memcmp(longer, pieces, sizeof longer) == 0, "%s: %d in a row are those one by one", name,
       (int)LONG);
    fill(5, 7, 0, N, part);
    ok(memcmp(part, whole, sizeof whole) != 0, "%s: another tensor has other numbers", name);
    fill(6, 6, 0, N, part);
    ok(memcmp(part, whole, sizeof whole) != 0, "%s: another seed gives other numbers", name);
}

/* A change of the algorithm must be seen: the CUDA backend has the same bits. */
static void normal_bits_are_fixed(void)
{
    static const struct {
        uint32_t w0, w1;
        double want;
    } cases[] = {
        { 0x80000000u, 0x00000000u, 0 },                                  /* p = 1/2 */
        { 0x80000000u, 0x20000000u, 5262168 * 0x1p-26 },                  /* row 1, t = 0 */
        { 0x80000000u, 0x30000000u, -5262168 * 0x1p-26 },                 /* the same, negative */
        { 0xffffffffu, 0x00800000u, (5254082 / 2 + 8086 / 4) * 0x1p-26 }, /* row 0, t = 1/2 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_double(philox_normal_number(cases[i].w0, cases[i].w1), (double)(float)cases[i].want, 0,
                  "normal: words %08x %08x give the documented bits", cases[i].w0, cases[i].w1);
    is_double(philox_normal_number(0, 0), philox_normal_number(1, 0), 0,
              "normal: the last octave takes what is beyond it");
}

/* Every row at several t: the tail probability of the value is what the words mean. */
static void normal_inverts_the_distribution(void)
{
    double worst = 0, largest = 0;
    bool ascending = true;
    float before = -1;
    for (uint32_t octave = 0; octave < 32; octave++)
        for (uint32_t part = 0; part < 8; part++)
            for (uint32_t step = 0; step < 16; step++) {
                const uint32_t t = step << 20;
                const float x = philox_normal_number(0x80000000u >> octave, part << 29 | t);
                const double p = ldexp(1 - (part + t / 16777216.0) / 16, -(int)octave - 1);
                const double density = exp(-0.5 * x * x) / sqrt(2 * 3.14159265358979323846);
                const double error = fabs(0.5 * erfc(x / sqrt(2)) - p) / density;
                worst = error > worst ? error : worst;
                largest = x > largest ? x : largest;
                ascending = ascending && x >= before;
                before = x;
            }
    ok(worst < 2e-5, "normal: no value is off the quantile by more than 2e-5 (%.2g)", worst);
    ok(ascending, "normal: the value ascends as the tail shrinks");
    ok(largest > 6.2 && largest < 6.34, "normal: the tail reaches to 6.3 (%.4f)", largest);
}

typedef struct moments {
    double mean, variance, skew, kurtosis;
} moments;

static moments moments_of(const float *x, size_t n)
{
    double sum = 0, m2 = 0, m3 = 0, m4 = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    const double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        const double d = x[i] - mean;
        m2 += d * d;
        m3 += d * d * d;
        m4 += d * d * d * d;
    }
    m2 /= (double)n;
    return (moments){ mean, m2, m3 / (double)n / pow(m2, 1.5), m4 / (double)n / (m2 * m2) };
}

static int ascending_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Tolerances are five standard errors of an ideal sample of this size. */
static void uniform_statistics(float *x, size_t n)
{
    const double root = sqrt((double)n);
    philox_uniform(1, 1, 0, n, x);
    moments got = moments_of(x, n);
    is_double(got.mean, 0.5, 5 * sqrt(1.0 / 12) / root, "uniform: mean");
    is_double(got.variance, 1.0 / 12, 5 * sqrt(1.0 / 180) / root, "uniform: variance");
    qsort(x, n, sizeof *x, ascending_floats);
    double distance = 0;
    for (size_t i = 0; i < n; i++)
        distance = fmax(distance, fabs(((double)i + 0.5) / (double)n - x[i]));
    ok(distance * root < 1.95, "uniform: Kolmogorov-Smirnov at 0.1 %% (%.2f)", distance * root);
    ok(x[0] >= 0 && x[n - 1] < 1, "uniform: from 0 to less than 1");
}

static void normal_statistics(float *x, size_t n)
{
    const double root = sqrt((double)n);
    philox_normal(1, 1, 0, n, x);
    double neighbours = 0;
    for (size_t i = 1; i < n; i++)
        neighbours += (double)x[i - 1] * x[i];
    is_double(neighbours / (double)n, 0, 5 / root, "normal: neighbours are uncorrelated");
    moments got = moments_of(x, n);
    is_double(got.mean, 0, 5 / root, "normal: mean");
    is_double(got.variance, 1, 5 * sqrt(2) / root, "normal: variance");
    is_double(got.skew, 0, 5 * sqrt(6) / root, "normal: skew");
    is_double(got.kurtosis, 3, 5 * sqrt(24) / root, "normal: kurtosis");
    qsort(x, n, sizeof *x, ascending_floats);
    double distance = 0;
    for (size_t i = 0; i < n; i++)
        distance = fmax(distance,
                        fabs(((double)i + 0.5) / (double)n - 0.5 * erfc(-x[i] / sqrt(2))));
    ok(distance * root < 1.95, "normal: Kolmogorov-Smirnov at 0.1 %% (%.2f)", distance * root);
    for (int bound = 1; bound <= 5; bound++) {
        const double expected = (double)n * erfc(bound / sqrt(2));
        double beyond = 0;
        for (size_t i = 0; i < n; i++)
            beyond += fabs(x[i]) > bound;
        is_double(beyond, expected, 5 * sqrt(expected) + 1, "normal: how many lie beyond %d sigma",
                  bound);
    }
}

int main(void)
{
    const int n = sized(500000, 2000000);
    plan(0);
    known_answers();
    blocks_side_by_side(philox_words, "as fast as this CPU can");
    blocks_side_by_side(philox_words_plain, "in plain C");
    uniform_follows_its_definition();
    normal_follows_its_definition();
    slices_are_slices(philox_uniform, "uniform");
    slices_are_slices(philox_normal, "normal");
    normal_bits_are_fixed();
    normal_inverts_the_distribution();
    float *x = malloc((size_t)n * sizeof *x);
    if (!ok(x != NULL, "memory for %d numbers", n)) return done_testing();
    uniform_statistics(x, (size_t)n);
    normal_statistics(x, (size_t)n);
    free(x);
    return done_testing();
}
