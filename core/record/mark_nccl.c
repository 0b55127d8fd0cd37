/* mark_nccl.c - what NCCL says with the ranges of its functions: the communicator, and how much is
 * exchanged. NCCL gives structs as payloads of NVTX's extension (nvToolsExtPayload.h); they begin
 * with the communicator's number, which all of its ranks have in common.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mark_calls.h"
#include "marks.h"

enum { PAYLOAD_EXT = (int)0xDFBD0009 }; /* NVTX_PAYLOAD_TYPE_EXT */

typedef struct payload { /* nvtxPayloadData_t */
    uint64_t schema;
    size_t size;
    const void *data;
} payload;

typedef struct exchange {
    uint64_t comm, bytes;
} exchange;

typedef struct membership {
    uint64_t comm;
    int32_t ranks, rank, device;
} membership;

/* Of NCCL since 2.24. Before, the structs lacked the communicator, and were 8 bytes shorter. */
static const struct {
    const char *function;
    size_t size;
    bool is_membership;
} structs[] = {
    { "ncclAllGather", sizeof(exchange), false },
    { "ncclAlltoAll", sizeof(exchange), false },
    { "ncclAllReduce", sizeof(exchange) + 8, false }, /* and an operation, a root or a peer */
    { "ncclBroadcast", sizeof(exchange) + 8, false },
    { "ncclReduce", sizeof(exchange) + 8, false },
    { "ncclReduceScatter", sizeof(exchange) + 8, false },
    { "ncclGather", sizeof(exchange) + 8, false },
    { "ncclScatter", sizeof(exchange) + 8, false },
    { "ncclSend", sizeof(exchange) + 8, false },
    { "ncclRecv", sizeof(exchange) + 8, false },
    { "ncclCommDestroy", sizeof(membership), true },
    { "ncclCommAbort", sizeof(membership), true },
};

static void print_exchange(char to[NVTX_NAME_BYTES], const char *function, const void *data)
{
    exchange e;
    memcpy(&e, data, sizeof e);
    snprintf(to, NVTX_NAME_BYTES, "%s, comm = %" PRIx64 ", bytes = %" PRIu64, function, e.comm,
             e.bytes);
}

static void print_membership(char to[NVTX_NAME_BYTES], const char *function, const void *data)
{
    membership m;
    memcpy(&m, data, sizeof m);
    snprintf(to, NVTX_NAME_BYTES, "%s, comm = %" PRIx64 ", ranks = %" PRId32 ", rank = %" PRId32,
             function, m.comm, m.ranks, m.rank);
}

bool nvtx_nccl_text(char to[NVTX_NAME_BYTES], const char *function, const nvtx_event *event)
{
    if (event->payload_type != PAYLOAD_EXT || event->reserved > 1 || !event->payload) return false;
    const payload *given = (const payload *)(uintptr_t)event->payload;
    for (size_t i = 0; i < sizeof structs / sizeof *structs; i++) {
        if (strcmp(structs[i].function, function) != 0) continue;
        if (!given->data || given->size != structs[i].size) return false;
        if (structs[i].is_membership)
            print_membership(to, function, given->data);
        else
            print_exchange(to, function, given->data);
        return true;
    }
    return false;
}
