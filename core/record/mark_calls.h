/* mark_calls.h - of NVTX 3's headers what is needed to be called by it. */
#ifndef MARK_CALLS_H
#define MARK_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

enum { NVTX_CALLBACKS = 1 };            /* NvtxExportTableID */
enum { NVTX_CORE = 1, NVTX_CORE2 = 5 }; /* NvtxCallbackModule */

enum { /* NvtxCallbackIdCore */
       NVTX_MARK_EX = 1,
       NVTX_MARK_A,
       NVTX_MARK_W,
       NVTX_START_EX,
       NVTX_START_A,
       NVTX_START_W,
       NVTX_END,
       NVTX_PUSH_EX,
       NVTX_PUSH_A,
       NVTX_PUSH_W,
       NVTX_POP
};

enum { /* NvtxCallbackIdCore2 */
       NVTX_DOMAIN_MARK = 1,
       NVTX_DOMAIN_START,
       NVTX_DOMAIN_END,
       NVTX_DOMAIN_PUSH,
       NVTX_DOMAIN_POP,
       NVTX_REGISTER_A = 10,
       NVTX_REGISTER_W,
       NVTX_CREATE_A,
       NVTX_CREATE_W
};

enum { NVTX_ASCII = 1, NVTX_WIDE, NVTX_REGISTERED }; /* nvtxMessageType_t */

typedef struct nvtx_event { /* nvtxEventAttributes_v2 */
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved; /* of an extension: how many it gives */
    uint64_t payload;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *wide;
        void *registered; /* what registering the text has returned */
    } message;
} nvtx_event;

typedef void nvtx_function(void);

typedef struct nvtx_callbacks { /* NvtxExportTableCallbacks */
    size_t bytes;
    int (*get_module)(unsigned module, nvtx_function ****table, unsigned *n);
} nvtx_callbacks;

typedef const void *nvtx_get_table(uint32_t id);

#endif
