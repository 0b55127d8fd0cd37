/* t-63-fuzz-corpus.c - what the fuzzer starts from, and what it has found, tried once more. */
#define _XOPEN_SOURCE 700
#include "../tap.h"
#include "../fuzz/exercise.h"

#include <dirent.h>

static char *contents(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *n = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*n ? *n : 1);
    if (data && fread(data, 1, *n, file) != *n) diag("cannot read %s", path);
    fclose(file);
    return data;
}

/* Not those that are compressed: what is read here is in memory. */
static int is_trace(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".json") == 0;
}

/* Names in "bad-..." are refused, all others are traces. */
static int replay(const char *folder, const char *scratch)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_trace, alphasort);
    for (int i = 0; i < n; i++) {
        char path[512];
        size_t bytes = 0;
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        char *text = contents(path, &bytes);
        bool trace = strncmp(entries[i]->d_name, "bad-", 4) != 0;
        ok(text && exercise(text, bytes, scratch) == trace, "%s is %s", path,
           trace ? "read" : "refused");
        free(text);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    return n;
}

int main(void)
{
    char scratch[64];
    snprintf(scratch, sizeof scratch, "/tmp/streamlab-corpus-%ld.json", (long)getpid());
    plan(0);
    ok(replay("tests/fuzz/corpus", scratch) > 0, "the corpus is there");
    ok(replay("tests/timeline/data", scratch) > 0, "so are the traces of other tests");
    unlink(scratch);
    return done_testing();
}
