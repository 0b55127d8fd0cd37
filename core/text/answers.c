/* answers.c - what shell commands answered in a script's first run. */
#define _XOPEN_SOURCE 700 /* popen, strdup */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diversion.h"

typedef struct answer {
    struct answer *next;
    bool has_output;
    unsigned output; /* a scratch file */
    int status;
    bool given; /* in this run */
    char command[];
} answer;

static int run_for_output(answer *a)
{
    char path[SL__SCRATCH_PATH], buffer[1 << 12];
    const int error = sl__scratch_make(&a->output);
    if (error != 0) return error;
    sl__scratch_path(a->output, path);
    FILE *to = fopen(path, "wb"), *from = to ? popen(a->command, "r") : NULL;
    const int failed = from ? 0 : errno;
    for (size_t n; from && (n = fread(buffer, 1, sizeof buffer, from)) > 0;)
        fwrite(buffer, 1, n, to);
    if (from) a->status = pclose(from);
    const bool whole = to && fclose(to) == 0;
    return failed != 0 ? failed : whole ? 0 : EIO;
}

static int run(answer *a)
{
    fflush(NULL);
    if (a->has_output) return run_for_output(a);
    a->status = system(a->command);
    return a->status == -1 ? errno : 0;
}

/* Appends one that has run; a command may itself take long, and its answer may be large. */
static int ask(sl_diversion *d, const char *command, bool has_output, answer **new)
{
    const size_t n = strlen(command) + 1;
    answer *a = calloc(1, sizeof *a + n), **at = &d->answers;
    if (!a) return ENOMEM;
    a->has_output = has_output;
    memcpy(a->command, command, n);
    const int error = run(a);
    if (error != 0) {
        sl__scratch_remove(a->output);
        free(a);
        return error;
    }
    while (*at)
        at = &(*at)->next;
    *at = *new = a;
    return 0;
}

static answer *find(sl_diversion *d, const char *command, bool has_output)
{
    answer *a = d->answers;
    while (a && (a->given || a->has_output != has_output || strcmp(a->command, command) != 0))
        a = a->next;
    return a;
}

int sl__answers_get(sl_diversion *d, const char *command, const char **output, int *status)
{
    answer *a = d->diverted ? find(d, command, output != NULL) : NULL;
    int error = d->diverted ? a ? 0 : ENOENT : ask(d, command, output != NULL, &a);
    if (error != 0) return error;
    a->given = true;
    *status = a->status;
    if (output) {
        sl__scratch_path(a->output, d->path);
        *output = d->path;
    }
    return 0;
}

void sl__answers_begin(sl_diversion *d)
{
    for (answer *a = d->answers; a; a = a->next)
        a->given = false;
}

void sl__answers_free(sl_diversion *d)
{
    for (answer *a = d->answers, *next; a; a = next) {
        next = a->next;
        sl__scratch_remove(a->output);
        free(a);
    }
}
