/* syscalls_none.c - takes the place of syscalls.c in a build without libseccomp.
 */
#include "syscalls.h"

const char *syscalls_refuse(bool may_open)
{
    (void)may_open;
    return "this streamlab was built without libseccomp";
}
