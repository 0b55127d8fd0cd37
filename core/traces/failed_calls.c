/* failed_calls.c - calls of a recorded program that returned an error: what they were to do has not
 * been done. A program may ask with a call whose error is the answer: that is none.
 */
#include "call_names.h"

#include <inttypes.h>

/* Numbers that the run time and the driver share, and the run time's own below 100. */
static const struct {
    uint32_t result;
    const char *what; /* NULL: it is an answer, or the program is about to end */
} results[] = {
    { 4, NULL },   /* the driver or the run time is being unloaded */
    { 600, NULL }, /* not ready */
    { 704, NULL }, /* access to a peer is enabled already, or is not */
    { 705, NULL },
    { 712, NULL }, /* the same of registered memory */
    { 713, NULL },
    { 1, " (an invalid value)" },
    { 2, " (out of memory)" },
    { 9, " (an invalid configuration)" },
    { 98, " (an invalid function)" },
    { 209, " (no code for this GPU)" },
    { 400, " (an invalid handle)" },
    { 700, " (a kernel used an illegal address)" },
    { 701, " (too many resources)" },
    { 719, " (a kernel failed)" },
    { 900, " (not allowed in a capture)" },
};

/* NULL: no failure; "": one without a name here. */
static const char *failure_of(uint32_t result)
{
    if (result == 0) return NULL;
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i].result == result) return results[i].what;
    return "";
}

/* A capture that is invalid has ended. */
static void forget_effect(sl__host *host)
{
    host->call.kind = SL_CALL_PLAIN;
    host->failed = true;
    if (host->does != SL__DOES_WAIT_MAYBE && host->does != SL__DOES_COPY
        && host->does != SL__DOES_END_CAPTURE)
        host->does = SL__DOES_OTHER;
}

bool sl__call_failed(sl__records *records, sl__host *host, uint32_t result)
{
    const char *what = failure_of(result);
    sl__doubted *failed = &records->doubted[SL_DOUBT_FAILED_CALLS];
    if (!what) return false;
    forget_effect(host);
    if (failed->n++ == 0)
        sl_text_add(&failed->what, "%s, with error %" PRIu32 "%s",
                    sl_timeline_text(records->timeline, host->call.name), result, what);
    return true;
}
