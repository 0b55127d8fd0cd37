/* value_launched.c - a launch of a custom kernel as a value: running it, and what it leaves. */
#include "value_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sim_launched_free(sim_launched *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        sim_value_free_data(l->region[i].after);
    sl_custom_call_drop(l->call);
    free(l->why);
    free(l->again);
}

/* About 1 ms: a process is started for it. */
static const double start_flops = 1e6;

double sim_launched_flops(const sim_launched *l)
{
    double threads = 1, bytes = 0;
    for (int i = 0; i < 3; i++)
        threads *= (double)l->call->grid[i] * l->call->block[i];
    for (uint32_t i = 0; i < l->n; i++)
        bytes += (double)l->region[i].bytes;
    double times = 1;
    for (uint32_t i = l->next_again; i < l->n_again; i++)
        times += (double)l->again[i].times;
    return times * (start_flops + 20 * threads + bytes / 4); /* a thread: some 20 ns */
}

/* ---- running ---- */

/* Takes what it leaves. */
static void keep_results(sim_launched *l, sl_emulate_region *regions)
{
    for (uint32_t i = 0; i < l->n; i++) {
        if (!l->region[i].is_written) continue;
        l->region[i].after = regions[i].data;
        regions[i].data = NULL;
    }
}

static void keep_failure(sim_launched *l, sl_status status, const sl_error *why)
{
    char text[sizeof why->msg + 256];
    const char *where = l->where;
    snprintf(text, sizeof text, "kernel %.100s%s%.100s: %s", l->call->kernel->name,
             *where ? ", launched at " : "", where, why->msg);
    l->failed = status;
    l->why = malloc(strlen(text) + 1);
    if (l->why) strcpy(l->why, text);
}

sl_status sim_launched_run(sim_launched *l, sl_emulate_region *regions, sl_error *err)
{
    sl_error why = { .status = SL_OK };
    const sl_status status = sim_custom_run(l->call, l->emulated, regions, l->n, l->arg, &why);
    if (status == SL_EINTERRUPT || status == SL_ENOMEM) {
        if (err) *err = why;
        return status;
    }
    l->ran = true;
    if (status == SL_OK)
        keep_results(l, regions);
    else
        keep_failure(l, status, &why);
    return SL_OK;
}

void sim_launched_run_is_over(sim_launched *l)
{
    sim_again *next = &l->again[l->next_again];
    l->ran = false;
    l->where = next->where;
    if (--next->times == 0) l->next_again++;
    for (uint32_t i = 0; i < l->n; i++) {
        if (!l->region[i].is_written) continue;
        l->region[i].before->as.data = l->region[i].after;
        l->region[i].after = NULL;
    }
}

sl_status sim_launched_take(sim_launched *l, uint32_t i, uint8_t **data, sl_error *err)
{
    if (l->failed)
        return sl_fail(err, l->failed, "%s",
                       l->why ? l->why
                              : "a kernel has failed, and there was no memory to keep why");
    *data = l->region[i].after;
    l->region[i].after = NULL;
    return SL_OK;
}
