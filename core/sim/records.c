/* records.c - records of events, and waits for them. */
#include "queue.h"

#include <stdlib.h>

sim_record *sim_record_new(sim_machine *machine)
{
    sim_record *record = machine->free_records;
    if (record)
        machine->free_records = record->next;
    else if (!(record = malloc(sizeof *record)))
        return NULL;
    *record = (sim_record){ 0 };
    return record;
}

void sim_record_issued(sim_op *op)
{
    sim_event *event = (sim_event *)op->base.event;
    op->record->op = op;
    op->record->refs = 2; /* the operation's and the event's */
    sim_record_release(sim_device_of(op)->machine, event->record);
    event->record = op->record;
}

void sim_record_ended(sim_op *op, sim_ps done_at)
{
    if (!op->record) return;
    if (op->base.work.kind == SL_WORK_EVENT_RECORD) {
        op->record->done = true;
        op->record->done_at = done_at;
        op->record->engine = sim_stream_of(op)->work_done_engine;
        op->record->op = NULL;
    }
    sim_record_release(sim_device_of(op)->machine, op->record);
    op->record = NULL;
}

void sim_record_awaited(sim_op *op)
{
    if (!op->record || sim_waits_in_own_stream(op)) return;
    sim_turn *awaited = &sim_stream_of(op)->awaited[op->record->engine];
    if (op->record->done_at <= awaited->at) return;
    *awaited = (sim_turn){ op->record->done_at, op->base.seq };
    if (awaited->at > sim_stream_of(op)->awaited_last)
        sim_stream_of(op)->awaited_last = awaited->at;
}
