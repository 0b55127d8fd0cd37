/* fuzz_spool.c - libFuzzer's way into the reader of spools. `make fuzz` builds and runs it. Its
 * input are the records of one chunk: a header with the right checksum is put before them. */
#include "exercise.h"

#include "../../core/base.h"
#include "../../core/record/spool.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void write_spool(const char *path, const unsigned char *records, size_t n)
{
    const spool_chunk chunk = { SPOOL_MAGIC, (uint32_t)n,
                                sl__checksum(SL__HASH_START, records, n) };
    FILE *file = fopen(path, "wb");
    exercise_must(file && fwrite(&chunk, sizeof chunk, 1, file) == 1
                      && fwrite(records, 1, n, file) == n && fclose(file) == 0,
                  "a spool is written", path);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static char path[64];
    sl_timeline *tl = NULL;
    sl_error err = { 0 };
    if (!path[0])
        snprintf(path, sizeof path, "%s/streamlab-fuzz-%ld.spool",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
    write_spool(path, data, size);
    sl_status status = sl_timeline_load(path, SL_BUSIEST_DEVICE, &tl, &err);
    exercise_must(status == SL_OK || status == SL_EINVAL, "a recording or not", err.msg);
    exercise_must((status == SL_OK) == (err.msg[0] == '\0'), "a refusal has a sentence", err.msg);
    if (tl) exercise_outputs(tl, path);
    if (tl) exercise_round_trip(tl, path);
    sl_timeline_release(tl);
    unlink(path);
    return 0;
}
