/* reaping.h - processes of a launch that come to their end. */
#ifndef SL_EMULATE_REAPING_H
#define SL_EMULATE_REAPING_H

#include <sys/types.h>

#include "report.h"

enum { EMU_MOST_WORKERS = 256 };

/* Waits until the processes have ended. What ended one of them from outside, the report says. */
void emu_reap(const pid_t *pids, int n, emu_report *report);
/* Ends them. Those that they have started end with them, and have then closed the pipe. */
void emu_kill_all(const pid_t *pids, int n, int pipe_end);

/* These have run their blocks: nobody needs to wait until the system has ended them. */
void emu_let_leave(const pid_t *pids, int n);
/* Waits for those. Before others are let go. */
void emu_reap_left(void);

#endif
