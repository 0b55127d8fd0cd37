/* base.c - arrays that grow, edges that others imply, hashes, reading and writing whole files. */
#include "base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_CAP = 16, MOST_COMPARED = 64 };

/* `array` points to a pointer of any type, so it is copied, not read as a void pointer. */
bool sl__grow(void *array, size_t *cap, size_t n, size_t element_bytes, bool zeroed)
{
    size_t wanted = *cap ? *cap : FIRST_CAP;
    while (wanted < n && wanted <= SIZE_MAX / 2)
        wanted *= 2;
    if (wanted < n || wanted > SIZE_MAX / element_bytes) return false;
    char *grown;
    memcpy(&grown, array, sizeof grown);
    grown = realloc(grown, wanted * element_bytes);
    if (!grown) return false;
    if (zeroed) memset(grown + *cap * element_bytes, 0, (wanted - *cap) * element_bytes);
    memcpy(array, &grown, sizeof grown);
    *cap = wanted;
    return true;
}

void sl__mark_implied(sl__node_list before,
                      sl__node_list (*before_of)(const void *graph, uint32_t node),
                      const void *graph, uint32_t *marks, uint32_t mark)
{
    for (uint32_t k = 0; k < before.n && before.n <= MOST_COMPARED; k++) {
        const sl__node_list further = before_of(graph, before.at[k]);
        for (uint32_t j = 0; j < further.n && further.n <= MOST_COMPARED; j++)
            marks[further.at[j]] = mark;
    }
}

void sl__trim(void *array, size_t *cap, size_t n, size_t element_bytes)
{
    char *trimmed;
    memcpy(&trimmed, array, sizeof trimmed);
    trimmed = n > 0 && n < *cap ? realloc(trimmed, n * element_bytes) : NULL;
    if (!trimmed) return;
    memcpy(array, &trimmed, sizeof trimmed);
    *cap = n;
}

int sl__find_name(const char *const *first, size_t stride, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        const char *const *at = (const void *)((const char *)first + i * stride);
        if (*at && strcmp(*at, name) == 0) return (int)i;
    }
    return -1;
}

static const uint64_t fnv_prime = UINT64_C(0x100000001b3);

uint64_t sl__hash(uint64_t sum, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ at[i]) * fnv_prime;
    return sum;
}

/* The shift brings high bits, which a product never moves down, back in. */
uint64_t sl__checksum(uint64_t sum, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint64_t word;
    for (; n >= sizeof word; n -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        sum = (sum ^ word) * fnv_prime;
        sum ^= sum >> 29;
    }
    return sum * fnv_prime ^ sl__hash(SL__HASH_START, at, n);
}

static bool goes_on(const volatile sig_atomic_t *interrupted)
{
    return errno == EINTR && !(interrupted && *interrupted);
}

bool sl__read_all(int fd, void *to, size_t n, const volatile sig_atomic_t *interrupted)
{
    for (char *at = to; n > 0;) {
        ssize_t done = read(fd, at, n);
        if (done < 0 && goes_on(interrupted)) continue;
        if (done <= 0) return false;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

bool sl__write_all(int fd, const void *from, size_t n, const volatile sig_atomic_t *interrupted)
{
    for (const char *at = from; n > 0;) {
        ssize_t done = write(fd, at, n);
        if (done < 0 && goes_on(interrupted)) continue;
        if (done <= 0) return false;
        at += done;
        n -= (size_t)done;
    }
    return true;
}
