/* places.h - where in a launch an address or a thread is, as text for reports. */
#ifndef SL_EMULATE_PLACES_H
#define SL_EMULATE_PLACES_H

#include "launch_processes.h"

enum { EMU_PLACE_BYTES = 160 };

/* Before the launch's first block. */
void emu_places_open(const emu_run *run);

/* "argument 2, element 5" for an address in its tensor, and "argument 2, element 1000 of 1000" for
 * one that is near it; "shared memory `tile`, byte 128", also with "of 128"; "address 0x10, which
 * is in no argument". */
void emu_place_of(const void *address, char text[EMU_PLACE_BYTES]);
/* The argument, counted from 0, in whose tensor or near it the address is; -1: in or near none. */
int emu_place_argument(const void *address);
/* Whether an argument that may be written has the bytes. */
bool emu_place_may_write(const void *address, size_t bytes);

/* Whether it is at most so many bytes away from a variable in shared memory, and in no other
 * variable of the kernel's. */
bool emu_place_is_beyond(const char *address, size_t most);

/* The index of the thread or block with this number. */
void emu_place_thread(uint32_t number, unsigned at[3]);
void emu_place_block(uint64_t number, unsigned at[3]);

#endif
