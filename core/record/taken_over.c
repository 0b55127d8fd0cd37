/* taken_over.c - whether CUPTI still gives its records to us. It gives them to whoever has
 * registered functions for its buffers last: a profiler in the program, such as PyTorch's, does
 * that where it starts, and CUPTI tells nobody. So a call is made at the beginning and at the end
 * whose record has to come back.
 */
#include "recorder.h"

#include <stdatomic.h>

/* A function of the driver's that takes no time, which programs hardly ever call. */
static CUresult(CUDAAPI *ask)(int *version);
static atomic_bool has_come, ever_came, was_answered;

void taken_over_watch(CUresult(CUDAAPI *driver_version)(int *version))
{
    ask = driver_version;
    if (cupti.ActivityEnableDriverApi)
        cupti.ActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion, 1);
    taken_over_ask();
}

void taken_over_ask(void)
{
    int version;
    has_come = false;
    if (ask) ask(&version);
}

bool taken_over_answer(CUpti_CallbackDomain domain, uint32_t cbid)
{
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || cbid != CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion)
        return false;
    was_answered = true;
    return true;
}

void taken_over_note_buffer(void) { has_come = ever_came = true; }

const char *taken_over_why(void)
{
    if (was_answered && !has_come)
        return "another profiler in the program, such as PyTorch's, has taken CUPTI over, and what "
               "came then is not recorded";
    if (ask && !ever_came)
        return "CUPTI has given no records: another profiler in the program, such as PyTorch's, "
               "may have taken it over at once";
    return NULL;
}
