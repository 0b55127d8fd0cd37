/* t-99-spool-pack.c - the bytes of a spool's records, worked out by hand from spool_pack.h, and
 * that what is packed comes out as it was. */
#include "../tap.h"

#include <stdlib.h>
#include <string.h>

#include "../../core/record/spool_pack.h"

static spool_packer packer;
static spool_unpacker unpacker;

/* xorshift: the same numbers on every machine. */
static uint64_t next_random(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* ---- by hand ---- */

static spool_record call_of(uint32_t correlation, uint64_t start_ns)
{
    return (spool_record){ .call = { .kind = SPOOL_CALL,
                                     .name = 3,
                                     .thread = 300,
                                     .result = 9,
                                     .correlation = correlation,
                                     .start_ns = start_ns,
                                     .end_ns = start_ns + 128 } };
}

/* A call: kind 4; 3 shared fields and no text is 6, 3 of its own; a new combination, name 3, thread
 * 300, which is 2 * 128 + 44, and error 9; correlation 1 is 2, start 64 is 128, and 128 ns to the
 * end. The next one has combination 0, and differs by -1, and by 1. */
static const uint8_t two_calls[] = { 4, 6,    3, 0, 3, 0xac, 2, 9,    2, 0x80,
                                     1, 0x80, 1, 4, 1, 1,    2, 0x80, 1 };

static void test_bytes(void)
{
    uint8_t bytes[2 * SPOOL_PACKED_MOST];
    const spool_record first = call_of(1, 64), second = call_of(0, 65);
    spool_pack_begin(&packer);
    const uint8_t *end = spool_pack(&packer, &second, spool_pack(&packer, &first, bytes));
    is_int(end - bytes, sizeof two_calls, "two calls take as many bytes as by hand");
    ok(memcmp(bytes, two_calls, sizeof two_calls) == 0, "and these are the same");
}

static void test_reading(void)
{
    spool_record record;
    spool_unpack_begin(&unpacker, two_calls, sizeof two_calls);
    is_int(spool_unpack(&unpacker, &record), SPOOL_UNPACKED, "a call is read");
    is_int(record.call.thread, 300, "with its thread");
    is_int((int64_t)record.call.end_ns, 192, "and its end");
    is_int(spool_unpack(&unpacker, &record), SPOOL_UNPACKED, "and another one");
    is_int(record.call.name, 3, "which shares the name");
    is_int(record.call.correlation, 0, "and has the number before");
    is_int((int64_t)record.call.start_ns, 65, "and starts 1 ns later");
    is_int(spool_unpack(&unpacker, &record), SPOOL_AT_END, "then the chunk ends");
}

/* Kind 60 has a shared field, one of its own, and a text; a call has a third shared field, and a
 * third one of its own that is the last; a context has no fields but one shared one. */
static const uint8_t of_later[] = { 60, 3, 1,  0, 9, 8, 2, 'h', 'i', 4, 6, 4, 0,  3, 5, 77, 2, 2,
                                    1,  6, 60, 1, 8, 0, 4, 1,   0,   2, 1, 6, 11, 2, 0, 0,  7 };

static void test_other_versions(void)
{
    spool_record record;
    spool_unpack_begin(&unpacker, of_later, sizeof of_later);
    is_int(spool_unpack(&unpacker, &record), SPOOL_UNPACKED, "a kind that is not known");
    is_int(record.kind, SPOOL_CALL, "is passed over");
    is_int(record.call.thread, 5, "and so are fields");
    is_int((int64_t)record.call.end_ns, 2, "behind those that are known");
    is_int(spool_unpack(&unpacker, &record), SPOOL_UNPACKED, "again where they are shared");
    is_int((int64_t)record.call.start_ns, 2, "and the next ones count from the last");
    is_int(spool_unpack(&unpacker, &record), SPOOL_UNPACKED, "a record of an earlier version");
    is_int(record.context.device, 7, "has what it has");
    is_int(record.context.null_stream, 0, "and 0 for what it lacks");
    is_int(spool_unpack(&unpacker, &record), SPOOL_AT_END, "and that is all");
}

static void test_damage(void)
{
    static const struct {
        const char *what;
        uint8_t bytes[16];
        size_t n;
    } bad[] = {
        { "no kind", { 0 }, 1 },
        { "a kind above all", { 64 }, 1 },
        { "a number that ends in the middle", { 0x84 }, 1 },
        { "a number of more than 64 bits",
          { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2 },
          10 },
        { "a number without end",
          { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0 },
          11 },
        { "a combination that is not there", { 4, 4, 3, 1, 0, 0, 0 }, 7 },
        { "more fields than there are", { 60, 34, 0 }, 3 },
        { "a text that is longer than the chunk", { 3, 1, 1, 2, 5, 'a' }, 6 },
        { "a text that is longer than one may be", { 3, 1, 1, 2, 0xf8, 0xff, 1 }, 7 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        spool_record record;
        spool_unpack_begin(&unpacker, bad[i].bytes, bad[i].n);
        is_int(spool_unpack(&unpacker, &record), SPOOL_DAMAGED, "%s is damage", bad[i].what);
    }
}

/* ---- there and back ---- */

/* Numbers of all lengths. */
static uint64_t random_number(void) { return next_random() >> (next_random() % 64); }

static spool_record random_kernel(void)
{
    const uint64_t start_ns = random_number();
    return (spool_record){ .kernel = { .kind = SPOOL_KERNEL,
                                       .name = (uint32_t)random_number(),
                                       .registers = (uint16_t)random_number(),
                                       .threads = (uint16_t)random_number(),
                                       .blocks = (uint32_t)(next_random() % 3),
                                       .stream = SPOOL_NONE,
                                       .graph = (uint32_t)(next_random() % 2),
                                       .node = (uint32_t)random_number(),
                                       .correlation = (uint32_t)random_number(),
                                       .start_ns = start_ns,
                                       .end_ns = start_ns + random_number() } };
}

static bool is_kernel(const spool_record *a, const spool_record *b)
{
    const spool_kernel *x = &a->kernel, *y = &b->kernel;
    return x->kind == y->kind && x->name == y->name && x->registers == y->registers
           && x->threads == y->threads && x->blocks == y->blocks && x->stream == y->stream
           && x->graph == y->graph && x->node == y->node && x->correlation == y->correlation
           && x->start_ns == y->start_ns && x->end_ns == y->end_ns;
}

/* More combinations than are kept, and some that come again. */
static void test_round_trip(void)
{
    enum { KERNELS = 3 * SPOOL_SHARED_MOST };
    static spool_record kernels[KERNELS];
    uint8_t *bytes = malloc((size_t)KERNELS * SPOOL_PACKED_MOST), *end = bytes;
    spool_record record;
    size_t n = 0;
    spool_pack_begin(&packer);
    for (size_t i = 0; i < KERNELS; i++) {
        kernels[i] = i % 3 == 2 ? kernels[next_random() % i] : random_kernel();
        end = spool_pack(&packer, &kernels[i], end);
    }
    spool_unpack_begin(&unpacker, bytes, (size_t)(end - bytes));
    while (n < KERNELS && spool_unpack(&unpacker, &record) == SPOOL_UNPACKED
           && is_kernel(&record, &kernels[n]))
        n++;
    is_int((int64_t)n, KERNELS, "what is packed comes out as it was");
    is_int(spool_unpack(&unpacker, &record), SPOOL_AT_END, "and nothing else");
    free(bytes);
}

static void test_texts(void)
{
    static char longest[SPOOL_TEXT_MOST + 10];
    static uint8_t bytes[4 * SPOOL_TEXT_MOST];
    const char *const texts[] = { longest, "", "k", NULL };
    spool_record record;
    uint8_t *end = bytes;
    memset(longest, 'x', sizeof longest - 1);
    spool_pack_begin(&packer);
    for (uint32_t i = 0; i < 4; i++)
        end = spool_pack(&packer, &(spool_record){ .name = { SPOOL_NAME, i, texts[i] } }, end);
    spool_unpack_begin(&unpacker, bytes, (size_t)(end - bytes));
    spool_unpack(&unpacker, &record);
    is_int((int64_t)strlen(record.name.text), SPOOL_TEXT_MOST - 1,
           "a text that is too long is cut");
    spool_unpack(&unpacker, &record);
    is_str(record.name.text, "", "one may be empty");
    spool_unpack(&unpacker, &record);
    is_str(record.name.text, "k", "or short");
    spool_unpack(&unpacker, &record);
    is_str(record.name.text, "", "or none");
    is_int(record.name.id, 3, "each with its number");
}

/* Of each chunk alone. */
static void test_chunks(void)
{
    uint8_t bytes[4 * SPOOL_PACKED_MOST];
    spool_record record, call = call_of(1, 64);
    spool_pack_begin(&packer);
    spool_pack(&packer, &call, spool_pack(&packer, &call, bytes));
    spool_pack_begin(&packer);
    const uint8_t *end = spool_pack(&packer, &call, bytes);
    spool_unpack_begin(&unpacker, bytes, (size_t)(end - bytes));
    is_int(spool_unpack(&unpacker, &record), SPOOL_UNPACKED, "a chunk is read by itself");
    is_int(record.call.name, 3, "with all that its records share");
    is_int((int64_t)record.call.start_ns, 64, "and with times that begin there");
}

int main(void)
{
    plan(0);
    test_bytes();
    test_reading();
    test_other_versions();
    test_damage();
    test_round_trip();
    test_texts();
    test_chunks();
    spool_unpack_free(&unpacker);
    return done_testing();
}
