/* kernel_names.c - short names of kernels that differ where the kernels do.
 *
 * Without their template's arguments, or cut in the middle, the names of many kernels are the
 * same: PyTorch has dozens of vectorized_elementwise_kernel. To such names the words are
 * added that tell it from the others, one or two if these do, rather names than numbers:
 * vectorized_elementwise_kernel<FillFunctor>. Else as many as it takes from the first on.
 * A name without a template is split at "_": sm90_xmma_gemm...tilesize64x64x32.
 */
#include "fields.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "../text/labels.h"

#define MOST_WORDS 96 /* of a name that are looked at */
#define MOST_SHOWN 6
#define MOST_TRIED 12    /* words that are tried in pairs */
#define MOST_COMPARED 64 /* names with which one is compared */
#define HEAD_BYTES 24    /* of a name without a template */

typedef struct word {
    const char *at;
    int n;
} word;

typedef struct kernel {
    uint32_t id;
    const char *name; /* in full */
    char *label;      /* the usual one, to which words may be added */
    word words[MOST_WORDS];
    int n_words;
    char *short_name;
} kernel;

/* ---- words --------------------------------------------------------------------------- */

static bool is_word_char(char c, bool is_template)
{
    return isalnum((unsigned char)c) || (c == '_' && is_template);
}

/* Of "(anonymous namespace)". */
static bool says_nothing(const char *at, int n)
{
    return (n == 9 && strncmp(at, "anonymous", 9) == 0)
           || (n == 9 && strncmp(at, "namespace", 9) == 0);
}

/* Namespaces are left out. */
static void split(kernel *k)
{
    const char *at = strchr(k->name, '<');
    bool is_template = at != NULL;
    at = is_template ? at : k->name;
    k->n_words = 0;
    while (*at && k->n_words < MOST_WORDS) {
        int n = 0;
        while (is_word_char(at[n], is_template))
            n++;
        if (n > 0 && !(at[n] == ':' && at[n + 1] == ':') && !says_nothing(at, n))
            k->words[k->n_words++] = (word){ at, n };
        at += n > 0 ? n : 1;
    }
}

static bool has_word(const kernel *k, const word *w)
{
    for (int i = 0; i < k->n_words; i++) {
        if (k->words[i].n == w->n && memcmp(k->words[i].at, w->at, (size_t)w->n) == 0) return true;
    }
    return false;
}

/* Keeps the words that not all of the kernels have. */
static void keep_own_words(kernel *own, const kernel *all, size_t n)
{
    int kept = 0;
    for (int i = 0; i < own->n_words; i++) {
        bool common = true;
        for (size_t k = 0; k < n && k < MOST_COMPARED && common; k++)
            common = has_word(&all[k], &own->words[i]);
        if (!common) own->words[kept++] = own->words[i];
    }
    own->n_words = kept;
}

/* ---- names ------------------------------------------------------------------------------ */

static void put_words(const kernel *k, int n, const char *between, sl_text *out)
{
    for (int i = 0; i < n && i < k->n_words; i++)
        sl_text_add(out, "%s%.*s", i > 0 ? between : "", k->words[i].n, k->words[i].at);
}

/* The label's beginning up to a "_". */
static int head_length(const char *label)
{
    int n = 0;
    for (int i = 0; label[i] && i < HEAD_BYTES; i++) {
        if (label[i] == '_') n = i;
    }
    return n;
}

/* With the first n words of its own; NULL without memory. */
static char *compose(const kernel *k, int n)
{
    sl_text text = { 0 };
    bool is_template = strchr(k->name, '<') != NULL;
    const char *bracket = strchr(k->label, '<');
    if (k->n_words == 0)
        sl_text_add(&text, "%s", k->label);
    else if (is_template)
        sl_text_add(&text, "%.*s<", (int)(bracket ? bracket - k->label : (long)strlen(k->label)),
                    k->label);
    else
        sl_text_add(&text, "%.*s...", head_length(k->label), k->label);
    put_words(k, n, is_template ? ", " : "_", &text);
    if (k->n_words > 0 && is_template) sl_text_add(&text, ">");
    if (text.failed) {
        sl_text_free(&text);
        return NULL;
    }
    return text.data;
}

/* No other of them begins with the same words. */
static bool is_distinct(const kernel *own, const kernel *all, size_t n, int words)
{
    for (size_t k = 0; k < n; k++) {
        bool same = &all[k] != own;
        for (int i = 0; i < words && same; i++) {
            const word *a = &own->words[i], *b = &all[k].words[i];
            bool both = i < own->n_words && i < all[k].n_words;
            same = both ? a->n == b->n && memcmp(a->at, b->at, (size_t)a->n) == 0
                        : i >= own->n_words && i >= all[k].n_words;
        }
        if (same) return false;
    }
    return true;
}

/* None of the others has all these words. */
static bool tells_apart(const word *words, int n_words, const kernel *own, const kernel *all,
                        size_t n)
{
    for (size_t k = 0; k < n && k < MOST_COMPARED; k++) {
        bool has_all = &all[k] != own;
        for (int i = 0; i < n_words && has_all; i++)
            has_all = has_word(&all[k], &words[i]);
        if (has_all) return false;
    }
    return true;
}

static bool is_name(const word *w) { return w->n >= 3 && !isdigit((unsigned char)w->at[0]); }

/* One word or two, of names alone or of any kind; their number, 0 if these do not do. */
static int choose(const kernel *own, const kernel *all, size_t n, bool any, word chosen[2])
{
    const int tried = own->n_words < MOST_TRIED ? own->n_words : MOST_TRIED;
    for (int i = 0; i < tried; i++) {
        chosen[0] = own->words[i];
        if ((any || is_name(chosen)) && tells_apart(chosen, 1, own, all, n)) return 1;
    }
    for (int i = 0; i < tried; i++) {
        chosen[0] = own->words[i];
        for (int k = i + 1; k < tried && (any || is_name(chosen)); k++) {
            chosen[1] = own->words[k];
            if ((any || is_name(&chosen[1])) && tells_apart(chosen, 2, own, all, n)) return 2;
        }
    }
    return 0;
}

/* `all` have their own words. */
static char *name_apart(const kernel *own, const kernel *all, size_t n)
{
    word chosen[2];
    kernel shown = *own;
    int words = choose(own, all, n, false, chosen);
    if (words == 0) words = choose(own, all, n, true, chosen);
    if (words == 0) {
        for (words = 1; words < MOST_SHOWN && !is_distinct(own, all, n, words);)
            words++;
    } else {
        memcpy(shown.words, chosen, (size_t)words * sizeof *chosen);
    }
    return compose(&shown, words);
}

/* Their labels are the same. */
static void distinguish(kernel *all, size_t n)
{
    kernel *whole = malloc(n * sizeof *whole);
    if (!whole) return;
    for (size_t i = 0; i < n; i++)
        split(&all[i]);
    memcpy(whole, all, n * sizeof *whole);
    for (size_t i = 0; i < n; i++)
        keep_own_words(&all[i], whole, n);
    free(whole);
    for (size_t i = 0; i < n; i++)
        all[i].short_name = name_apart(&all[i], all, n);
}

/* ---- all ---------------------------------------------------------------------------------- */

/* The usual label: shortened, and cut in the middle. */
static char *label_of(const char *name)
{
    char kernel_label[SL__KERNEL_BYTES];
    sl_text text = { 0 };
    sl_label_kernel(name, kernel_label);
    sl_label_clip(&text, kernel_label, SL__NAME_COLUMNS);
    if (text.failed) {
        sl_text_free(&text);
        return NULL;
    }
    return text.data;
}

static int by_label(const void *left, const void *right)
{
    const kernel *a = left, *b = right;
    int order = strcmp(a->label, b->label);
    return order != 0 ? order : (a->id > b->id) - (a->id < b->id);
}

/* Every name of a kernel once; *n of them. NULL without memory. */
static kernel *collect(const sl_timeline *timeline, const sl__strings *texts, size_t *n)
{
    const size_t n_spans = sl_timeline_span_count(timeline);
    size_t count = 0;
    bool *seen = calloc(sl__strings_count(texts), sizeof *seen);
    *n = 0;
    if (!seen) return NULL;
    for (size_t i = 0; i < n_spans; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        bool is_new = sl_span_kind_is_kernel(span.kind) && !seen[span.name];
        seen[span.name] |= is_new;
        count += is_new;
    }
    kernel *all = count > 1 ? calloc(count, sizeof *all) : NULL;
    for (size_t id = 1; id < sl__strings_count(texts) && all; id++) {
        if (!seen[id]) continue;
        kernel *k = &all[*n];
        k->id = (uint32_t)id;
        k->name = sl__strings_text(texts, (uint32_t)id);
        k->label = label_of(k->name);
        *n += k->label != NULL;
    }
    free(seen);
    return all;
}

sl__kernel_names sl__kernel_names_find(const sl_timeline *timeline, const sl__strings *texts)
{
    size_t n;
    sl__kernel_names names = { 0 };
    kernel *all = collect(timeline, texts, &n);
    if (!all) return names;
    qsort(all, n, sizeof *all, by_label);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && strcmp(all[i].label, all[end].label) == 0;)
            end++;
        if (end - i > 1) distinguish(&all[i], end - i);
    }
    names.at = calloc(sl__strings_count(texts), sizeof *names.at);
    names.n = names.at ? sl__strings_count(texts) : 0;
    for (size_t i = 0; i < n; i++) {
        if (names.at)
            names.at[all[i].id] = all[i].short_name;
        else
            free(all[i].short_name);
        free(all[i].label);
    }
    free(all);
    return names;
}

void sl__kernel_names_free(sl__kernel_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->at[i]);
    free(names->at);
    *names = (sl__kernel_names){ 0 };
}

const char *sl__timeline_kernel_name(const sl_timeline *timeline, uint32_t name)
{
    return name < timeline->kernel_names.n ? timeline->kernel_names.at[name] : NULL;
}
