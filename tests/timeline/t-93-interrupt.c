/* t-93-interrupt.c - the user stops what is done with a timeline; the next time it is done. */
#define _XOPEN_SOURCE 700

#include "files.h"
#include "make.h"

enum { SPANS = 20000 };

static sl_error err;

static sl_timeline *long_one(void)
{
    sl_timeline *tl = make();
    uint32_t name = text_id(tl, "spin");
    for (int i = 0; i < SPANS; i++) {
        sl_span s = {
            .start_ns = i * 1000,
            .end_ns = i * 1000 + 900,
            .host_start_ns = i * 10,
            .host_end_ns = i * 10 + 9,
            .correlation = (uint64_t)i + 1,
            .stream = (uint32_t)(i % 5),
            .name = name,
        };
        must(sl_timeline_add_span(tl, &s, &err), &err);
    }
    sl_timeline_finish(tl, 0, (int64_t)SPANS * 1000);
    return tl;
}

static sl_status inferred(const sl_timeline *tl)
{
    sl_explanation why;
    sl_status status = sl_timeline_infer_causes(tl, &why, &err);
    if (status == SL_OK) sl_explanation_free(&why);
    return status;
}

static sl_status causes(const sl_timeline *tl)
{
    const sl_explanation *why;
    return sl_timeline_causes(tl, &why, &err);
}

static sl_status figures(const sl_timeline *tl)
{
    sl_figures all;
    sl_status status = sl_timeline_figures(tl, SL_FIGURES_STREAMS | SL_FIGURES_CAUSES, &all, &err);
    if (status == SL_OK) sl_figures_free(&all);
    return status;
}

static sl_status summary(const sl_timeline *tl)
{
    sl_figures some;
    sl_status status = sl_timeline_figures(tl, 0, &some, &err);
    if (status == SL_OK) sl_figures_free(&some);
    return status;
}

static sl_status save(const sl_timeline *tl)
{
    return sl_timeline_save_kineto(tl, in_directory("trace.json"), &err);
}

static sl_status save_packed(const sl_timeline *tl)
{
    return sl_timeline_save_kineto(tl, in_directory("packed.json.gz"), &err);
}

static sl_status save_html(const sl_timeline *tl)
{
    return sl_timeline_save_html(tl, in_directory("page.html"), NULL, &err);
}

static sl_status load(const sl_timeline *tl)
{
    sl_timeline *loaded = NULL;
    sl_status status = sl_timeline_load_kineto(in_directory("trace.json"), SL_BUSIEST_DEVICE,
                                               &loaded, &err);
    (void)tl;
    sl_timeline_release(loaded);
    return status;
}

static const struct {
    const char *name;
    sl_status (*call)(const sl_timeline *tl);
} calls[] = {
    { "finding causes", causes },   { "inferring them", inferred },
    { "comparing", figures },       { "a summary", summary },
    { "saving a page", save_html }, { "saving a packed trace", save_packed },
    { "saving a trace", save },     { "loading it", load },
};

int main(void)
{
    plan(0);
    make_directory();
    sl_timeline *tl = long_one();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        int files = files_in_directory();
        sl_interrupt(true);
        is_int(calls[i].call(tl), SL_EINTERRUPT, "%s is stopped", calls[i].name);
        is_str(err.msg, "interrupted", "which it says");
        ok(!sl_interrupt_wanted(), "once");
        is_int(files_in_directory(), files, "and leaves no file");
        is_int(calls[i].call(tl), SL_OK, "then it is done");
    }
    char *before = contents(in_directory("trace.json"));
    sl_interrupt(true);
    is_int(save(tl), SL_EINTERRUPT, "saving over a file is stopped");
    char *after = contents(in_directory("trace.json"));
    ok(before && after && !strcmp(before, after), "and the file is as it was");
    free(before);
    free(after);
    sl_leave();
    is_int(save(tl), SL_OK, "who leaves saves all the same");
    sl_timeline_release(tl);
    remove(in_directory("trace.json"));
    remove(in_directory("packed.json.gz"));
    remove(in_directory("page.html"));
    rmdir(directory);
    return done_testing();
}
