/* fuzz_kineto.c - libFuzzer's way into the reader of traces. `make fuzz` builds and runs it. */
#include "exercise.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static char path[64];
    if (!path[0])
        snprintf(path, sizeof path, "%s/streamlab-fuzz-%ld.json",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
    char *copy = malloc(size + 1); /* of just this size, so that reading on is seen */
    if (!copy) return 0;
    memcpy(copy, data, size);
    char *text = realloc(copy, size ? size : 1);
    exercise(text, size, path);
    free(text);
    unlink(path);
    return 0;
}
