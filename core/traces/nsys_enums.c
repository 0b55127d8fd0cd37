/* nsys_enums.c - what numbers of kinds mean in a report of Nsight Systems. */
#include "nsys_enums.h"

#include <string.h>

/* A value that CUPTI has: its number in reports, as documented, and how its name there ends. */
typedef struct value {
    uint8_t number, cupti;
    const char *ends;
} value;

static const value directions[] = {
    { 0, 0, "KIND_UNKNOWN" },
    { 1, 1, "KIND_HTOD" },
    { 2, 2, "KIND_DTOH" },
    { 3, 3, "KIND_HTOA" },
    { 4, 4, "KIND_ATOH" },
    { 5, 5, "KIND_ATOA" },
    { 6, 6, "KIND_ATOD" },
    { 7, 7, "KIND_DTOA" },
    { 8, 8, "KIND_DTOD" },
    { 9, 9, "KIND_HTOH" },
    { 10, 10, "KIND_PTOP" },
    { 11, SL__NSYS_MIGRATION, "UVM_HTOD" },
    { 12, SL__NSYS_MIGRATION, "UVM_DTOH" },
    { 13, SL__NSYS_MIGRATION, "UVM_DTOD" },
};

static const value memories[] = {
    { 0, 1, "KIND_PAGEABLE" },       { 1, 2, "KIND_PINNED" },  { 2, 3, "KIND_DEVICE" },
    { 3, 4, "KIND_ARRAY" },          { 4, 5, "KIND_MANAGED" }, { 5, 6, "KIND_DEVICE_STATIC" },
    { 6, 7, "KIND_MANAGED_STATIC" }, { 7, 0, "KIND_UNKNOWN" },
};

static const value syncs[] = {
    { 0, 0, "TYPE_UNKNOWN" },       { 1, 1, "EVENT_SYNCHRONIZE" },   { 2, 2, "STREAM_WAIT_EVENT" },
    { 3, 3, "STREAM_SYNCHRONIZE" }, { 4, 4, "CONTEXT_SYNCHRONIZE" },
};

static const value overheads[] = {
    { 3, 1, "BUFFER_FLUSH" },
    { 4, 2, "INSTRUMENTATION" },
    { 5, 3, "CUPTI_RESOURCE" },
    { 6, 4, "MODULE_LOADING" },
    { 7, 5, "FUNCTION_LOADING" },
    { 8, 6, "COMMAND_BUFFER_FULL" },
    { 9, 7, "ACTIVITY_BUFFER_REQUEST" },
    { 10, 8, "UVM_ACTIVITY_INIT" },
};

static bool ends(const char *text, size_t n, const char *end)
{
    const size_t length = strlen(end);
    return n >= length && memcmp(text + n - length, end, length) == 0;
}

/* A table that is there says it of all its numbers. */
static sl_status read(sl__sqlite *db, const char *table, const value *values, size_t n_values,
                      uint8_t map[SL__NSYS_NUMBERS], sl_error *err)
{
    static const char *const columns[] = { "id", "name", NULL };
    sl__rows rows;
    bool more = false;
    for (size_t i = 0; i < n_values; i++)
        map[values[i].number] = values[i].cupti;
    sl_status status = sl__rows_open(db, table, columns, &rows, err);
    while (status == SL_OK && (status = sl__rows_next(&rows, &more, err)) == SL_OK && more) {
        size_t n;
        const int64_t id = sl__rows_whole(&rows, 0, -1);
        const char *name = sl__rows_text(&rows, 1, &n);
        for (size_t i = 0; name && id >= 0 && id < SL__NSYS_NUMBERS && i < n_values; i++)
            if (ends(name, n, values[i].ends)) map[id] = values[i].cupti;
    }
    sl__rows_close(&rows);
    return status;
}
#define READ(db, table, values, map, err) \
    read((db), (table), (values), sizeof(values) / sizeof *(values), (map), (err))

sl_status sl__nsys_enums_read(sl__nsys_enums *enums, sl__sqlite *db, sl_error *err)
{
    sl_status status = READ(db, "ENUM_CUDA_MEMCPY_OPER", directions, enums->direction, err);
    if (status == SL_OK) status = READ(db, "ENUM_CUDA_MEM_KIND", memories, enums->memory, err);
    if (status == SL_OK) status = READ(db, "ENUM_CUPTI_SYNC_TYPE", syncs, enums->sync, err);
    if (status == SL_OK)
        status = READ(db, "ENUM_CUPTI_OVERHEAD_TYPE", overheads, enums->overhead, err);
    return status;
}

static uint8_t look_up(const uint8_t map[SL__NSYS_NUMBERS], int64_t number)
{
    return number >= 0 && number < SL__NSYS_NUMBERS ? map[number] : 0;
}

uint8_t sl__nsys_direction(const sl__nsys_enums *enums, int64_t number)
{
    return look_up(enums->direction, number);
}

uint8_t sl__nsys_memory(const sl__nsys_enums *enums, int64_t number)
{
    return look_up(enums->memory, number);
}

uint8_t sl__nsys_sync(const sl__nsys_enums *enums, int64_t number)
{
    return look_up(enums->sync, number);
}

uint32_t sl__nsys_overhead(const sl__nsys_enums *enums, int64_t number)
{
    return (uint32_t)look_up(enums->overhead, number) << 16;
}
