/* host_limits.h - what control groups allow this process. `root` stands before all paths, for
 * tests; "" is the system. */
#ifndef SL_HOST_LIMITS_H
#define SL_HOST_LIMITS_H

/* The least that a group allows which the process is in, or one around it; INFINITY: no limit. */
double sl__group_memory_bytes(const char *root);
double sl__group_processors(const char *root);

#endif
