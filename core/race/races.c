/* races.c - the list of races: one entry for each pair of lines that race over memory made at one
 * place, with texts that outlive the objects. */
#include <stdlib.h>
#include <string.h>

#include "../device.h"
#include "../record.h"
#include "state.h"

typedef sl__found found;

/* ---- texts --------------------------------------------------------------------------- */

static const char *own(sl__checker *checker, uint32_t id)
{
    return sl__strings_text(&checker->strings, id);
}

static const sl__slot *slot_of(sl__checker *checker, const sl__access *access)
{
    return &checker->slots[access->slot];
}

/* A text of the slot's device, "" once that has closed. */
static const char *text_in(const sl__slot *slot, uint32_t id)
{
    return slot->device ? sl__strings_text(&slot->device->core->strings, id) : "";
}

/* The checker's id of a text of the access. */
static uint32_t text_of(sl__checker *checker, const sl__access *access, uint32_t id)
{
    if (access->by != SL__BY_STREAM) return id;
    return sl__race_text(checker, text_in(slot_of(checker, access), id));
}

static uint32_t launched_at(sl__checker *checker, const sl__access *access)
{
    const sl__race_launch *launch = access->launch;
    return launch ? sl__race_text(checker, text_in(&checker->slots[launch->slot], launch->where))
                  : 0;
}

static const char *stream_name(sl__checker *checker, const sl__access *access)
{
    const sl__slot *slot = slot_of(checker, access);
    return access->by == SL__BY_HOST ? "" : text_in(slot, slot->name);
}

/* Both are nodes of one launch. */
static bool is_inside(const sl__conflict *conflict)
{
    return conflict->second->launch && conflict->first->launch == conflict->second->launch;
}

/* The host has to wait if it makes the second access, or if the second stream cannot wait for the
 * first, which is of another machine. */
static sl_race_remedy remedy_of(sl__checker *checker, const sl__conflict *conflict)
{
    const sl_device *a = slot_of(checker, conflict->first)->device,
                    *b = slot_of(checker, conflict->second)->device;
    bool are_apart = a && b && !sl_device_are_of_one_machine(a, b);
    if (conflict->kind == SL_RACE_AFTER_FREE) return SL_REMEDY_FREE_LATER;
    if (is_inside(conflict)) return SL_REMEDY_CAPTURE_WAITS;
    if (conflict->first->by == SL__BY_HOST && conflict->first->slot != SL__HOST_SLOT)
        return SL_REMEDY_THREAD_JOINS;
    return conflict->second->by == SL__BY_HOST || are_apart ? SL_REMEDY_HOST_WAITS
                                                            : SL_REMEDY_STREAM_WAITS;
}

/* If the second access is a call that frees and waits, that call is the accident. */
static void describe_accident(sl__checker *checker, sl_race *race, const sl__conflict *conflict)
{
    race->accident_call = race->accident_where = "";
    if (race->kind != SL_RACE_ACCIDENT) return;
    if (conflict->second->kind == SL_ACCESS_FREE) {
        race->accident = SL_ACCIDENT_CALL;
        race->accident_call = race->second.what;
        return;
    }
    if (conflict->first->is_staged) {
        race->accident = SL_ACCIDENT_GRAPH_SOURCE;
        race->accident_where = race->first.launched;
        return;
    }
    sl__accident accident = sl__order_accident(checker, conflict->first);
    race->accident = accident.why;
    race->accident_call = own(checker, accident.call);
    race->accident_where = own(checker, accident.where);
}

/* The checker's copy of a text of a slot's device. */
static const char *copied(sl__checker *checker, const sl__slot *slot, uint32_t id)
{
    return own(checker, sl__race_text(checker, text_in(slot, id)));
}

static void describe_node(sl__checker *checker, sl_race_access *to, const sl__access *access)
{
    const sl__race_launch *launch = access->launch;
    const sl__slot *slot = slot_of(checker, access);
    const sl__slot *stream = launch ? &checker->slots[launch->slot] : NULL;
    to->graph = to->launched = to->captured = to->captured_made = "";
    to->launch_stream = to->launch_made = "";
    if (!launch) return;
    to->graph = copied(checker, stream, launch->graph);
    to->launched = copied(checker, stream, launch->where);
    to->captured = copied(checker, slot, slot->is_lane ? slot->captured : launch->origin);
    to->captured_made = copied(checker, slot, slot->is_lane ? slot->made : launch->origin_made);
    to->launch_stream = copied(checker, stream, stream->name);
    to->launch_made = copied(checker, stream, stream->made);
    to->launch_stream_id = stream->stream_id;
    to->launch_in_per_thread = stream->is_per_thread;
    if (slot->is_lane) to->stream = sl_timeline_row_id(0, stream->stream_id, slot->stream_id);
}

/* The index of a GPU where several are open. */
static int gpu_of(const sl_device *device)
{
    return device && device->core->numbers->devices->core->beside ? device->info.index : -1;
}

static void describe_access(sl__checker *checker, sl_race_access *to, const sl__access *access,
                            uint32_t what, uint32_t where)
{
    const sl__slot *slot = slot_of(checker, access);
    to->kind = (sl_race_access_kind)access->kind;
    to->what = own(checker, what);
    to->where = own(checker, where);
    to->by_host = access->by == SL__BY_HOST;
    to->in_host_func = access->by == SL__BY_HOST_FUNC;
    to->thread = to->by_host && access->slot != SL__HOST_SLOT ? (int)slot->stream_id : -1;
    to->gpu = to->by_host ? -1 : gpu_of(slot->device);
    to->stream = slot->stream_id;
    to->stream_name = own(checker, sl__race_text(checker, stream_name(checker, access)));
    to->stream_made = own(checker, sl__race_text(checker, text_in(slot, slot->made)));
    to->in_per_thread = slot->is_per_thread;
    to->seq = access->seq;
    to->first_byte = access->first;
    to->n_bytes = access->end - access->first;
    describe_node(checker, to, access);
}

/* ---- entries ---------------------------------------------------------------------------- */

static uint32_t made_where(sl__checker *checker, const sl_buffer *buffer)
{
    return sl__race_text(checker, sl__strings_text(&buffer->device->core->strings, buffer->where));
}

static bool is_same(const found *a, const found *b)
{
    return a->race.kind == b->race.kind && a->race.first.kind == b->race.first.kind
           && a->race.second.kind == b->race.second.kind && a->first_where == b->first_where
           && a->second_where == b->second_where && a->first_what == b->first_what
           && a->second_what == b->second_what && a->made == b->made
           && a->first_launched == b->first_launched && a->second_launched == b->second_launched;
}

static size_t hash_of(const found *entry)
{
    uint64_t hash = 14695981039346656037u;
    const uint32_t parts[] = {
        entry->first_where,    entry->second_where,
        entry->first_what,     entry->second_what,
        entry->made,           (uint32_t)entry->race.kind,
        entry->first_launched, entry->second_launched,
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hash = (hash ^ parts[i]) * 1099511628211u;
    return (size_t)(hash ^ hash >> 32) % SL__RACE_SLOTS;
}

/* The key of a conflict: conflicts with the same key share an entry. That two nodes of one launch
 * race depends on the capture alone, wherever the launch is. */
static found key_of(sl__checker *checker, const sl__conflict *conflict)
{
    return (found){
        .race = { .kind = conflict->kind, .first.kind = (sl_race_access_kind)conflict->first->kind,
                  .second.kind = (sl_race_access_kind)conflict->second->kind, },
        .first_where = text_of(checker, conflict->first, conflict->first->where),
        .second_where = text_of(checker, conflict->second, conflict->second->where),
        .first_what = text_of(checker, conflict->first, conflict->first->what),
        .second_what = text_of(checker, conflict->second, conflict->second->what),
        .made = made_where(checker, conflict->buffer),
        .first_launched = is_inside(conflict) ? 0 : launched_at(checker, conflict->first),
        .second_launched = is_inside(conflict) ? 0 : launched_at(checker, conflict->second),
    };
}

static sl__idle_wait idle_of(sl__checker *checker, const sl__access *access)
{
    const sl__race_clock *clock = slot_of(checker, access)->clock;
    if (access->by == SL__BY_HOST) return checker->host.idle;
    return clock ? clock->idle : (sl__idle_wait){ .why = SL_IDLE_NONE };
}

/* With threads the one that waits in vain may have come first. */
static void describe_idle(sl__checker *checker, sl_race *race, const sl__conflict *conflict)
{
    sl__idle_wait idle = idle_of(checker, conflict->second);
    race->idle_is_first = idle.why == SL_IDLE_NONE && checker->threads
                          && conflict->first->by != SL__BY_HOST;
    if (race->idle_is_first) idle = idle_of(checker, conflict->first);
    race->idle = idle.why;
    race->idle_where = own(checker, idle.where);
}

static void describe(sl__checker *checker, sl_race *race, const found *key,
                     const sl__conflict *conflict)
{
    race->kind = conflict->kind;
    describe_access(checker, &race->first, conflict->first, key->first_what, key->first_where);
    describe_access(checker, &race->second, conflict->second, key->second_what, key->second_where);
    race->tensor_id = conflict->buffer->tensor_id;
    race->made_as = conflict->buffer->made_as;
    race->made_as.place = (sl_place)conflict->buffer->place;
    race->made_where = own(checker, key->made);
    race->gpu = conflict->buffer->place == SL_ON_DEVICE ? gpu_of(conflict->buffer->device) : -1;
    race->first_byte = conflict->from;
    race->n_bytes = conflict->to - conflict->from;
    race->remedy = remedy_of(checker, conflict);
    describe_accident(checker, race, conflict);
    describe_idle(checker, race, conflict);
}

static found *new_entry(sl__checker *checker, const found *key, const sl__conflict *conflict)
{
    found *entry = malloc(sizeof *entry);
    if (!entry) {
        checker->starved = true;
        return NULL;
    }
    *entry = *key;
    describe(checker, &entry->race, key, conflict);
    return entry;
}

/* NULL: the list is full, or the checker is starved. */
static found *find_or_add(sl__checker *checker, const found *key, const sl__conflict *conflict)
{
    size_t at = hash_of(key);
    found *entry;
    for (; checker->races.table[at]; at = (at + 1) % SL__RACE_SLOTS)
        if (is_same(checker->races.entries[checker->races.table[at] - 1], key))
            return checker->races.entries[checker->races.table[at] - 1];
    if (checker->races.n == SL_MOST_RACES || !(entry = new_entry(checker, key, conflict)))
        return NULL;
    checker->races.entries[checker->races.n++] = entry;
    checker->races.table[at] = (uint16_t)checker->races.n;
    return entry;
}

/* ---- adding, reporting ------------------------------------------------------------- */

void sl__races_add(sl__checker *checker, const sl__conflict *conflict)
{
    const found key = key_of(checker, conflict);
    found *entry = find_or_add(checker, &key, conflict);
    checker->races.total++;
    if (conflict->refused) {
        describe(checker, &checker->races.refused, &key, conflict);
        checker->races.is_late = conflict->refused == conflict->first;
        checker->races.has_refused = true;
    }
    if (!entry) return;
    entry->race.count++;
    if (conflict->refused) {
        entry->reported = true; /* by the error */
        if (conflict->second->by == SL__BY_STREAM && conflict->refused == conflict->second)
            entry->race.second.seq = 0; /* it does not happen */
    } else {
        sl__outcome_follow(checker, entry, conflict);
    }
    if (!entry->reported) checker->has_unreported = true;
}

static sl_status fail_launch(const sl_race *race, sl_error *err)
{
    const sl_race_access *a = &race->first, *b = &race->second;
    if (race->kind == SL_RACE_AFTER_FREE)
        return sl_fail(err, SL_ERACE,
                       "its node %.50s at %.60s uses memory that %.50s at %.60s has "
                       "freed",
                       b->what, b->where, a->what, a->where);
    return sl_fail(err, SL_ERACE,
                   "its node %.50s at %.60s races with its node %.50s at %.60s: no "
                   "edge orders them",
                   b->what, b->where, a->what, a->where);
}

sl_status sl__races_fail(sl__checker *checker, sl_error *err)
{
    const sl__race_list *races = &checker->races;
    const sl_race_access *other = races->is_late ? &races->refused.second : &races->refused.first;
    bool in_stream = !other->by_host;
    if (races->refused.remedy >= SL_REMEDY_CAPTURE_WAITS) return fail_launch(&races->refused, err);
    return sl_fail(err, SL_ERACE, "it races with %.50s at %.60s%s%.60s%s: nothing orders them",
                   other->what, other->where, in_stream ? " in stream \"" : "", other->stream_name,
                   in_stream ? "\"" : "");
}

void sl__races_report(sl__checker *checker)
{
    checker->has_unreported = false;
    for (size_t i = 0; i < checker->races.n; i++) {
        found *entry = checker->races.entries[i];
        if (entry->reported || entry->unsettled > 0) continue;
        entry->reported = true;
        if (checker->races.hook) checker->races.hook(checker->races.hook_ud, &entry->race);
    }
}

void sl__races_finish(sl__checker *checker)
{
    sl__outcomes_forget(checker);
    checker->has_unreported = checker->races.n > 0;
}

void sl__races_clear(sl__checker *checker)
{
    sl__races_finish(checker);
    sl__races_report(checker);
    checker->races.has_refused = false;
    for (size_t i = 0; i < checker->races.n; i++)
        free(checker->races.entries[i]);
    memset(checker->races.table, 0, sizeof checker->races.table);
    checker->races.n = 0;
    checker->races.total = 0;
}

/* ---- the public list ------------------------------------------------------------- */

size_t sl_race_count(void) { return sl__race ? sl__race->races.n : 0; }

const sl_race *sl_race_get(size_t index)
{
    return index < sl_race_count() ? &sl__race->races.entries[index]->race : NULL;
}

const sl_race *sl_race_refused(bool *is_late)
{
    if (!sl__race || !sl__race->races.has_refused) return NULL;
    *is_late = sl__race->races.is_late;
    return &sl__race->races.refused;
}

uint64_t sl_race_total(void) { return sl__race ? sl__race->races.total : 0; }

void sl_race_set_hook(sl_race_hook hook, void *ud)
{
    sl__checker *checker = sl__race_make();
    if (!checker) return;
    checker->races.hook = hook;
    checker->races.hook_ud = ud;
}
