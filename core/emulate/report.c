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

/* The text and the status, which is what tells the parent that something went wrong. */
static _Noreturn void end(emu_report *report, sl_status status, const char *format, va_list args)
{
    vsnprintf(report->text, sizeof report->text, format, args);
    report->status = status;
    _exit(0);
}

_Noreturn void emu_fail(int line, const char *format, ...)
{
    emu_report *report = claim();
    va_list args;
    va_start(args, format);
    report->line = line;
    end(report, SL_EKERNEL, format, args);
}

_Noreturn void emu_fail_memory(const char *what, ...)
{
    emu_report *report = claim();
    va_list args;
    va_start(args, what);
    end(report, SL_ENOMEM, what, args);
}

_Noreturn void emu_fail_at(const void *pc, const void *other, const char *format, ...)
{
    emu_report *report = claim();
    va_list args;
    va_start(args, format);
    report->pcs[0] = (uintptr_t)pc;
    report->pcs[1] = (uintptr_t)other;
    end(report, SL_EKERNEL, format, args);
}
