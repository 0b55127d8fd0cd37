/* found.c - the races found: one entry for each pair of lines over memory of one origin,
 * with texts that outlive the objects, and what came of it on a simulated GPU. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../device.h"
#include "../tensor.h"
#include "state.h"

enum { SLOTS = 4096, MOST_UNSETTLED = 1024 };

bool sl__race_news;

/* When an access happened, as far as that is known. */
typedef struct moment {
    enum { KNOWN, PENDING, PAST, NEVER } state;
    uint32_t slot;              /* PENDING: of this operation's end */
    uint64_t epoch;
    int64_t at_ns;
} moment;

typedef struct found {
    sl_race race;
    uint32_t first_where, second_where, first_what, second_what, made;      /* text ids */
    int unsettled;              /* meetings whose outcome is not known yet */
    bool told;
} found;

/* A meeting whose operations have not both ended. */
typedef struct unsettled {
    found *entry;
    moment first, second;
    bool first_writes, second_writes;
} unsettled;

static struct {
    found *entries[SL_MOST_RACES];
    size_t n;
    uint64_t total;
    uint16_t table[SLOTS];      /* open addressing: index + 1 */
    unsettled unsettled[MOST_UNSETTLED];
    size_t n_unsettled;
    char sentence[sizeof ((sl_error *)0)->msg];
    sl_race_hook hook;
    void *hook_ud;
} all;

/* ---- texts --------------------------------------------------------------------------- */

static const char *own(uint32_t id)
{
    return sl__strings_text(&sl__race.strings, id);
}

static const sl__slot *slot_of(const sl__access *access)
{
    return &sl__race.slots[access->slot];
}

/* The checker's id of a text of the access. */
static uint32_t text_of(const sl__access *access, uint32_t id)
{
    const sl_device *device;

    if (access->by != SL__BY_STREAM)
        return id;
    device = slot_of(access)->device;
    return device ? sl__race_text(sl__strings_text(&device->core->strings, id)) : 0;
}

static const char *stream_name(const sl__access *access)
{
    const sl__slot *slot = slot_of(access);

    if (access->by == SL__BY_HOST || !slot->device)
        return "";
    return sl__strings_text(&slot->device->core->strings, slot->name);
}

static const char *stream_made_where(const sl__access *access)
{
    const sl__slot *slot = slot_of(access);

    return slot->device ? sl__strings_text(&slot->device->core->strings, slot->made) : "";
}

typedef struct words { char text[160], meaning[200]; } words;

static bool is_variable(const char *name)
{
    bool is = isalpha((unsigned char)name[0]) || name[0] == '_';

    for (const char *c = name; *c; c++)
        is = is && (isalnum((unsigned char)*c) || *c == '_');
    return is;
}

/* How a script would write the stream: its name, where that can be a variable; else `role`, and
 * room->meaning says which stream that is, by where it was made. */
static const char *stream_in_script(const sl__access *access, const char *role, words *room)
{
    const char *name = stream_name(access), *made = stream_made_where(access);

    room->meaning[0] = '\0';
    if (slot_of(access)->stream_id == 0)
        return "lab.default_stream()";
    if (slot_of(access)->is_per_thread)
        return "lab.per_thread_stream()";
    if (is_variable(name)) {
        snprintf(room->text, sizeof room->text, "%.60s", name);
    } else if (*made) {
        snprintf(room->text, sizeof room->text, "%s", role);
        snprintf(room->meaning, sizeof room->meaning, "%s is \"%.60s\", made at %.100s", role,
                 name, made);
    } else {
        snprintf(room->text, sizeof room->text, "<%.60s>", name);
    }
    return room->text;
}

/* Whether it is for the host to wait: it is the second, or a stream that cannot, since
 * simulated devices are alone. */
static bool host_is_to_wait(const sl__meeting *meeting)
{
    const sl_device *a = slot_of(meeting->first)->device, *b = slot_of(meeting->second)->device;

    return meeting->second->by == SL__BY_HOST
           || (a && b && a != b && (a->info.simulated || b->info.simulated));
}

/* "before lab.lua:14", and which streams the remedy's words mean. */
static void describe_place(sl_race *race, const sl__meeting *meeting, const char *first,
                           const char *second)
{
    bool in_host_func = meeting->second->by == SL__BY_HOST_FUNC;
    char text[640];

    snprintf(text, sizeof text, "before %s%s%s%s%s%s%s",
             in_host_func ? "the host function of " : "", race->second.where,
             in_host_func ? " is launched" : "",
             *first || *second ? ", where " : "", second, *first && *second ? ", and " : "", first);
    race->remedy_where = own(sl__race_text(text));
}

/* `word`, unless the other stream has that name. */
static const char *role(const char *word, const sl__access *other)
{
    return strcmp(stream_name(other), word) == 0 ? "other" : word;
}

static void describe_remedy(sl_race *race, const sl__meeting *meeting)
{
    char text[340];
    words a, b = { .meaning = "" };
    const char *first = stream_in_script(meeting->first, role("first", meeting->second), &a);

    if (host_is_to_wait(meeting)) {
        snprintf(text, sizeof text, "%s:synchronize()", first);
    } else {
        const char *second = stream_in_script(meeting->second, role("second", meeting->first), &b);
        snprintf(text, sizeof text, "%s:wait_stream(%s)", second, first);
    }
    race->remedy = own(sl__race_text(text));
    describe_place(race, meeting, a.meaning, b.meaning);
}

/* A free that waits does so as itself. */
static void describe_accident(sl_race *race, const sl__meeting *meeting)
{
    static const char *const sentences[] = {
        [SL_CHANCE_UNKNOWN] = "", [SL_CHANCE_CALL] = "waits for the work of the device",
        [SL_CHANCE_FROM_PAGEABLE] = "a copy from pageable memory waits for its stream before it "
                                    "begins",
        [SL_CHANCE_TO_PAGEABLE] = "a copy to pageable memory waits until it has arrived",
        [SL_CHANCE_BLOCKING_COPY] = "a blocking copy from pageable memory waits until it has "
                                    "arrived",
        [SL_CHANCE_NULL_STREAM] = "waiting for the NULL stream waits for the blocking streams as "
                                  "well",
    };
    sl__chance chance = sl__order_chance(meeting->first);
    char text[320];

    if (race->kind != SL_RACE_ACCIDENT)
        return;
    race->chance = meeting->second->kind == SL_ACCESS_FREE ? SL_CHANCE_CALL : chance.why;
    if (meeting->second->kind == SL_ACCESS_FREE) {
        race->chance_call = race->second.what;
        snprintf(text, sizeof text, "%s waits for the work of the device", race->second.what);
    } else {
        race->chance_call = own(chance.call);
        race->chance_where = own(chance.where);
        snprintf(text, sizeof text, "%s%s%s (%s)", own(chance.call), chance.call ? " " : "",
                 sentences[chance.why], own(chance.where));
    }
    race->accident = own(sl__race_text(text));
}

static const char *describe_memory(const sl_buffer *buffer)
{
    static const char *const places[] = {
        [SL_ON_DEVICE] = "on the device", [SL_PAGEABLE] = "in pageable memory",
        [SL_PINNED] = "in pinned memory",
    };
    sl__shape_text shape;
    char text[320];

    snprintf(text, sizeof text, "tensor %llu (%s %s %s)", (unsigned long long)buffer->tensor_id,
             sl__shape_format(&buffer->made_as, &shape), sl_dtype_name(buffer->made_as.dtype),
             places[buffer->place]);
    return own(sl__race_text(text));
}

static void describe_access(sl_race_access *to, const sl__access *access, uint32_t what,
                            uint32_t where)
{
    to->kind = (sl_race_access_kind)access->kind;
    to->what = own(what);
    to->where = own(where);
    to->by_host = access->by == SL__BY_HOST;
    to->in_host_func = access->by == SL__BY_HOST_FUNC;
    to->stream = slot_of(access)->stream_id;
    to->stream_name = own(sl__race_text(stream_name(access)));
    to->seq = access->seq;
    to->first_byte = access->first;
    to->n_bytes = access->end - access->first;
}

/* ---- entries ---------------------------------------------------------------------------- */

static uint32_t made_where(const sl_buffer *buffer)
{
    return sl__race_text(sl__strings_text(&buffer->device->core->strings, buffer->where));
}

static bool is_same(const found *a, const found *b)
{
    return a->race.kind == b->race.kind && a->race.first.kind == b->race.first.kind
           && a->race.second.kind == b->race.second.kind && a->first_where == b->first_where
           && a->second_where == b->second_where && a->first_what == b->first_what
           && a->second_what == b->second_what && a->made == b->made;
}

static size_t hash_of(const found *entry)
{
    uint64_t hash = 14695981039346656037u;
    const uint32_t parts[] = {
        entry->first_where, entry->second_where, entry->first_what, entry->second_what,
        entry->made, (uint32_t)entry->race.kind,
    };

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hash = (hash ^ parts[i]) * 1099511628211u;
    return (size_t)(hash ^ hash >> 32) % SLOTS;
}

/* The key of a meeting: what tells one entry from another. */
static found key_of(const sl__meeting *meeting)
{
    return (found){
        .race = { .kind = meeting->kind, .first.kind = (sl_race_access_kind)meeting->first->kind,
                  .second.kind = (sl_race_access_kind)meeting->second->kind },
        .first_where = text_of(meeting->first, meeting->first->where),
        .second_where = text_of(meeting->second, meeting->second->where),
        .first_what = text_of(meeting->first, meeting->first->what),
        .second_what = text_of(meeting->second, meeting->second->what),
        .made = made_where(meeting->buffer),
    };
}

static found *new_entry(const found *key, const sl__meeting *meeting)
{
    found *entry = malloc(sizeof *entry);
    sl_race *race;

    if (!entry) {
        sl__race.starved = true;
        return NULL;
    }
    *entry = *key;
    race = &entry->race;
    describe_access(&race->first, meeting->first, key->first_what, key->first_where);
    describe_access(&race->second, meeting->second, key->second_what, key->second_where);
    race->tensor = describe_memory(meeting->buffer);
    race->made_where = own(key->made);
    race->first_byte = meeting->from;
    race->n_bytes = meeting->to - meeting->from;
    describe_accident(race, meeting);
    describe_remedy(race, meeting);
    return entry;
}

/* NULL: the list is full, or the checker is starved. */
static found *find_or_add(const sl__meeting *meeting)
{
    const found key = key_of(meeting);
    size_t at = hash_of(&key);
    found *entry;

    for (; all.table[at]; at = (at + 1) % SLOTS)
        if (is_same(all.entries[all.table[at] - 1], &key))
            return all.entries[all.table[at] - 1];
    if (all.n == SL_MOST_RACES || !(entry = new_entry(&key, meeting)))
        return NULL;
    all.entries[all.n++] = entry;
    all.table[at] = (uint16_t)all.n;
    return entry;
}

/* ---- outcomes ----------------------------------------------------------------------------- */

static moment moment_of(const sl__access *access)
{
    moment when = { .state = KNOWN, .slot = access->slot, .epoch = access->epoch,
                      .at_ns = access->host_ns };

    if (access->by != SL__BY_STREAM && access->host_ns >= 0)
        return when;
    if (access->seq == 0)
        when.state = NEVER;
    else
        when.state = slot_of(access)->retired >= access->epoch ? PAST : PENDING;
    return when;
}

/* What ends at an instant is there for what begins at it. */
static sl_race_outcome compare(const unsettled *u)
{
    bool swapped = u->second.at_ns < u->first.at_ns
                   || (u->second.at_ns == u->first.at_ns && !u->first_writes);

    return swapped ? SL_RACE_STALE : SL_RACE_HELD;
}

static void set_outcome(found *entry, sl_race_outcome outcome)
{
    if (entry->race.outcome != SL_RACE_STALE && outcome != SL_RACE_UNKNOWN)
        entry->race.outcome = outcome;
    if (!entry->told)
        sl__race_news = true;
}

/* True: it is known, or never will be. One access was being made when the other was met, so
 * what had ended before happened before it. */
static bool settle(const unsettled *u)
{
    if (u->first.state == NEVER || u->second.state == NEVER)
        set_outcome(u->entry, SL_RACE_UNKNOWN);
    else if (u->first.state == PAST || u->second.state == PAST)
        set_outcome(u->entry, u->first.state == PAST ? SL_RACE_HELD : SL_RACE_STALE);
    else if (u->first.state == KNOWN && u->second.state == KNOWN)
        set_outcome(u->entry, compare(u));
    else
        return false;
    return true;
}

static void remove_unsettled(size_t i)
{
    all.unsettled[i].entry->unsettled--;
    all.unsettled[i] = all.unsettled[--all.n_unsettled];
}

static void follow(found *entry, const sl__meeting *meeting)
{
    unsettled u = {
        .entry = entry, .first = moment_of(meeting->first), .second = moment_of(meeting->second),
        .first_writes = meeting->first->kind != SL_ACCESS_READ,
        .second_writes = meeting->second->kind != SL_ACCESS_READ,
    };

    if (!meeting->buffer->device->info.simulated || settle(&u)
        || all.n_unsettled == MOST_UNSETTLED)
        return;
    all.unsettled[all.n_unsettled++] = u;
    entry->unsettled++;
}

static void note_moment(moment *when, uint32_t slot, const sl_op *op, bool writes)
{
    if (when->state != PENDING || when->slot != slot || when->epoch != op->race_epoch)
        return;
    when->state = op->lost ? NEVER : KNOWN;
    when->at_ns = writes ? op->end_ns : op->start_ns;
}

void sl__found_retired(uint32_t slot, const sl_op *op)
{
    for (size_t i = all.n_unsettled; i-- > 0;) {
        unsettled *u = &all.unsettled[i];
        note_moment(&u->first, slot, op, u->first_writes);
        note_moment(&u->second, slot, op, u->second_writes);
        if (settle(u))
            remove_unsettled(i);
    }
}

void sl__found_lost(uint32_t slot)
{
    for (size_t i = all.n_unsettled; i-- > 0;)
        if (all.unsettled[i].first.slot == slot || all.unsettled[i].second.slot == slot)
            remove_unsettled(i);
    sl__race_news = true;
}

/* The entry stays: the script would race there all the same. */
void sl__found_cancelled(uint32_t slot, uint64_t epoch)
{
    for (size_t i = all.n_unsettled; i-- > 0;)
        if (all.unsettled[i].second.slot == slot && all.unsettled[i].second.epoch == epoch)
            remove_unsettled(i);
    sl__race_news = true;
}

/* ---- adding, telling ------------------------------------------------------------- */

/* Of the access that is not refused. It is the second where a host function runs late. */
static void say(const sl__meeting *meeting)
{
    const found key = key_of(meeting);
    bool late = meeting->refused == meeting->first;
    const sl__access *other = late ? meeting->second : meeting->first;
    char by[128] = "";
    words stream;

    if (other->by != SL__BY_HOST)
        snprintf(by, sizeof by, " in stream \"%.60s\"", stream_name(other));
    snprintf(all.sentence, sizeof all.sentence, "it races with %.50s at %.60s%s: nothing orders "
             "them; %s%s", own(late ? key.second_what : key.first_what),
             own(late ? key.second_where : key.first_where), by,
             host_is_to_wait(meeting) ? "synchronize " : "wait for ",
             stream_in_script(meeting->first, late ? "its stream" : "that stream", &stream));
}

void sl__found_add(const sl__meeting *meeting)
{
    found *entry = find_or_add(meeting);

    all.total++;
    if (meeting->refused)
        say(meeting);
    if (!entry)
        return;
    entry->race.count++;
    if (meeting->refused) {
        entry->told = true;             /* by the error */
        if (meeting->second->by == SL__BY_STREAM && meeting->refused == meeting->second)
            entry->race.second.seq = 0;         /* it does not happen */
    } else {
        follow(entry, meeting);
    }
    if (!entry->told)
        sl__race_news = true;
}

sl_status sl__found_fail(sl_error *err)
{
    return sl_fail(err, SL_ERACE, "%s", all.sentence);
}

void sl__race_tell(void)
{
    sl__race_news = false;
    for (size_t i = 0; i < all.n; i++) {
        found *entry = all.entries[i];
        if (entry->told || entry->unsettled > 0)
            continue;
        entry->told = true;
        if (all.hook)
            all.hook(all.hook_ud, &entry->race);
    }
}

void sl__found_finish(void)
{
    while (all.n_unsettled > 0)
        remove_unsettled(all.n_unsettled - 1);
    sl__race_news = all.n > 0;
}

void sl__found_clear(void)
{
    sl__found_finish();
    sl__race_tell();
    for (size_t i = 0; i < all.n; i++)
        free(all.entries[i]);
    memset(all.table, 0, sizeof all.table);
    all.n = 0;
    all.total = 0;
}

/* ---- the public list ------------------------------------------------------------- */

size_t sl_race_count(void)
{
    return all.n;
}

const sl_race *sl_race_get(size_t index)
{
    return index < all.n ? &all.entries[index]->race : NULL;
}

uint64_t sl_race_total(void)
{
    return all.total;
}

void sl_race_set_hook(sl_race_hook hook, void *ud)
{
    all.hook = hook;
    all.hook_ud = ud;
}
