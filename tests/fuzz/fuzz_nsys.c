/* fuzz_nsys.c - libFuzzer's way into the reader of reports of Nsight Systems. `make fuzz` builds and
 * runs it. Its input is a whole database. SQLite itself is not sanitized: what is looked for are
 * mistakes in what is made of its rows. */
#include "exercise.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static char path[64];
    sl_timeline *tl = NULL;
    sl_error err = { 0 };
    if (!path[0])
        snprintf(path, sizeof path, "%s/streamlab-fuzz-%ld.sqlite",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
    FILE *file = fopen(path, "wb");
    exercise_must(file && fwrite("SQLite format 3", 1, 16, file) == 16
                      && fwrite(data + (size < 16 ? size : 16), 1, size < 16 ? 0 : size - 16, file)
                             == (size < 16 ? 0 : size - 16)
                      && fclose(file) == 0,
                  "a database is written", path);
    sl_status status = sl_timeline_load(path, SL_BUSIEST_DEVICE, &tl, &err);
    exercise_must(status == SL_OK || status == SL_EINVAL, "a report or not", err.msg);
    exercise_must((status == SL_OK) == (err.msg[0] == '\0'), "a refusal has a sentence", err.msg);
    if (tl) exercise_outputs(tl, path);
    if (tl) exercise_round_trip(tl, path);
    sl_timeline_release(tl);
    unlink(path);
    return 0;
}
