/* report.c - what went wrong in a kernel. */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static emu_report *open_report;
static uint64_t block;

void emu_report_open(emu_report *report) { open_report = report; }

void emu_report_block(uint64_t number) { block = number; }

_Noreturn void emu_fail(int line, const char *format, ...)
{
    va_list args;

    if (atomic_exchange(&open_report->claimed, 1) == 0) {
        va_start(args, format);
        vsnprintf(open_report->text, sizeof open_report->text, format, args);
        va_end(args);
        open_report->line = line;
        open_report->block = block;
        open_report->status = SL_EKERNEL;
    }
    _exit(0);
}
