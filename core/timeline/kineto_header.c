/* kineto_header.c - the members of a trace that are no events.
 *
 * They are small, so that jansson makes trees of them. Members that are missing or hold
 * something else than usual are left at 0: what they say is for the reader's eyes.
 */
#include "kineto_header.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define TIME_LIMIT_NS (INT64_C(1) << 61)

static sl_status parse(const sl__json_value *value, const char *key, json_t **tree, sl_error *err)
{
    json_error_t error;
    *tree = json_loadb(value->text, value->n, 0, &error);
    if (*tree)
        return SL_OK;
    if (json_error_code(&error) == json_error_out_of_memory)
        return sl_fail(err, SL_ENOMEM, "no memory for \"%s\"", key);
    return sl_fail(err, SL_EINVAL, "its \"%s\" cannot be read: %.100s", key, error.text);
}

/* 0 for what is no whole number. */
static int64_t clamped(const json_t *value, int64_t least, int64_t greatest)
{
    int64_t number = json_is_integer(value) ? (int64_t)json_integer_value(value) : 0;
    return number < least ? least : number > greatest ? greatest : number;
}

static int64_t whole(const json_t *object, const char *key, int64_t least, int64_t greatest)
{
    return clamped(json_object_get(object, key), least, greatest);
}

static int small(const json_t *object, const char *key)
{
    return (int)whole(object, key, 0, INT_MAX);
}

static void copy_text(char *to, size_t n, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (text)
        strncpy(to, text, n - 1);       /* what was there are zeros */
}

/* ---- "deviceProperties" --------------------------------------------------------- */

static sl_status add_device(sl__records *records, const json_t *object, sl_error *err)
{
    sl_status status = sl__records_reserve((void **)&records->devices, records->n_devices,
                                           &records->cap_devices, sizeof *records->devices, err);
    if (status != SL_OK)
        return status;
    sl_device_info *info = &records->devices[records->n_devices++];
    *info = (sl_device_info){
        .index = small(object, "id"),
        .sm_count = small(object, "numSms"),
        .memory_bytes = whole(object, "totalGlobalMem", 0, INT64_MAX),
        .compute_capability_major = small(object, "computeMajor"),
        .compute_capability_minor = small(object, "computeMinor"),
        .max_threads_per_block = small(object, "maxThreadsPerBlock"),
        .max_shared_bytes_per_block = whole(object, "sharedMemPerBlockOptin", 0, INT64_MAX),
    };
    copy_text(info->name, sizeof info->name, object, "name");
    return SL_OK;
}

sl_status sl__header_devices(sl__records *records, const sl__json_value *value, sl_error *err)
{
    if (value->type != SL__JSON_ARRAY)
        return SL_OK;
    json_t *list;
    sl_status status = parse(value, "deviceProperties", &list, err);
    for (size_t i = 0; status == SL_OK && i < json_array_size(list); i++)
        status = add_device(records, json_array_get(list, i), err);
    json_decref(list);
    return status;
}

/* ---- "streamlab" ------------------------------------------------------------------ */

static sl_status add_note(sl__records *records, const json_t *object, sl_error *err)
{
    const char *name = json_string_value(json_object_get(object, "name"));
    sl_stream_note note = {
        .id = (uint32_t)whole(object, "id", 0, UINT32_MAX),
        .priority = (int32_t)whole(object, "priority", INT32_MIN, INT32_MAX),
        .non_blocking = json_is_true(json_object_get(object, "non_blocking")),
    };
    sl_status status = sl_timeline_intern(records->timeline, name ? name : "", &note.name, err);
    if (status == SL_OK)
        status = sl__records_reserve((void **)&records->notes, records->n_notes,
                                     &records->cap_notes, sizeof note, err);
    if (status == SL_OK)
        records->notes[records->n_notes++] = note;
    return status;
}

static sl_status add_notes(sl__records *records, const json_t *list, sl_error *err)
{
    sl_status status = SL_OK;
    records->noted = json_is_array(list);
    for (size_t i = 0; status == SL_OK && i < json_array_size(list); i++)
        status = add_note(records, json_array_get(list, i), err);
    return status;
}

/* All positions first: the timeline makes room for the lines of as many texts as it has. */
static sl_status add_sources(sl__records *records, json_t *object, sl_error *err)
{
    const char *position;
    json_t *line;
    uint32_t where;
    sl_status status = SL_OK;
    json_object_foreach (object, position, line) {
        status = sl_timeline_intern(records->timeline, position, &where, err);
        if (status != SL_OK)
            return status;
    }
    json_object_foreach (object, position, line) {
        status = sl_timeline_intern(records->timeline, position, &where, err);
        if (status == SL_OK && where != 0 && json_is_string(line))
            status = sl_timeline_set_source(records->timeline, where, json_string_value(line),
                                            err);
        if (status != SL_OK)
            return status;
    }
    return SL_OK;
}

/* The backend's name is kept as text of the timeline until the device is set. */
static sl_status take_info(sl__records *records, const json_t *object, sl_error *err)
{
    const json_t *priorities = json_object_get(object, "priorities");
    const char *backend = json_string_value(json_object_get(object, "backend"));
    sl_device_info *info = &records->info;
    copy_text(info->profile, sizeof info->profile, object, "profile");
    info->async_engine_count = small(object, "async_engines");
    info->simulated = json_is_true(json_object_get(object, "simulated"));
    if (!json_object_get(object, "simulated"))      /* an older file */
        info->simulated = backend && strcmp(backend, "sim") == 0;
    info->priority_least = (int)clamped(json_array_get(priorities, 0), INT_MIN, INT_MAX);
    info->priority_greatest = (int)clamped(json_array_get(priorities, 1), INT_MIN, INT_MAX);
    uint32_t id;
    sl_status status = sl_timeline_intern(records->timeline, backend ? backend : "", &id, err);
    if (status == SL_OK)
        info->backend = sl_timeline_text(records->timeline, id);
    return status;
}

sl_status sl__header_own(sl__records *records, const sl__json_value *value, sl_error *err)
{
    if (value->type != SL__JSON_OBJECT)
        return SL_OK;
    json_t *object;
    sl_status status = parse(value, "streamlab", &object, err);
    if (status != SL_OK)
        return status;
    records->own = true;
    records->start_ns = whole(object, "start_ns", -TIME_LIMIT_NS + 1, TIME_LIMIT_NS - 1);
    if (json_object_get(object, "wall_ns"))
        records->wall_ns = whole(object, "wall_ns", 0, TIME_LIMIT_NS - 1);
    status = take_info(records, object, err);
    if (status == SL_OK)
        status = add_sources(records, json_object_get(object, "sources"), err);
    if (status == SL_OK)
        status = add_notes(records, json_object_get(object, "streams"), err);
    json_decref(object);
    return status;
}
