/* syscalls_none.c - takes the place of syscalls.c in a build without libseccomp.
 */
#include "syscalls.h"

static const char why[] = "this streamlab was built without libseccomp";

void syscalls_prepare(bool may_open) { (void)may_open; }

const char *syscalls_refuse(bool may_open)
{
    (void)may_open;
    return why;
}

const char *syscalls_refuse_compiler(void) { return why; }
const char *syscalls_refuse_kernel(void) { return why; }
