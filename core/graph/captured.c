/* captured.c - what events keep of their latest record, where a capture has it. */
#include <stdlib.h>

#include "capture.h"

sl__captured *sl__captured_new(const sl__branch *branch)
{
    sl__captured *record = calloc(1, sizeof *record);
    if (record) record->nodes = sl__nodes_retain(branch->last);
    return record;
}

void sl__captured_begin(sl__capture *capture, sl__captured *record)
{
    record->capture = capture;
    SL__PUSH(capture->records, record, next, link);
}

void sl__captured_end(sl__captured *record)
{
    SL__UNLINK(record, next, link);
    sl__nodes_release(record->nodes);
    record->nodes = NULL;
    record->capture = NULL;
}

void sl__captured_free(sl__captured *record)
{
    if (record && record->capture) sl__captured_end(record);
    free(record);
}
