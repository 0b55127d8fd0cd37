/* report.c - what went wrong in a kernel. */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static emu_report *open_report;
static uint64_t block;

void emu_report_open(emu_report *report) { open_report = report; }

void emu_report_block(uint64_t number) { block = number; }

/* The first one that fails gets it, the others end. */
static emu_report *claim(void)
{
    if (atomic_exchange(&open_report->claimed, 1) != 0) _exit(0);
    open_report->block = block;
    return open_report;
}

_Noreturn void emu_fail(int line, const char *format, ...)
{
    emu_report *report = claim();
    va_list args;
    va_start(args, format);
    vsnprintf(report->text, sizeof report->text, format, args);
    va_end(args);
    report->line = line;
    report->status = SL_EKERNEL;
    _exit(0);
}

_Noreturn void emu_fail_at(const void *pc, const void *other, const char *format, ...)
{
    emu_report *report = claim();
    va_list args;
    va_start(args, format);
    vsnprintf(report->text, sizeof report->text, format, args);
    va_end(args);
    report->pcs[0] = (uintptr_t)pc;
    report->pcs[1] = (uintptr_t)other;
    report->status = SL_EKERNEL;
    _exit(0);
}
