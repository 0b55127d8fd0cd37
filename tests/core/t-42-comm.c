/* t-42-comm.c - core/comm: communicators and their life, what is checked before a collective is
 * enqueued, groups. */
#include "../../core/comm/ranks.h"
#include "../kept.h"
#include "fake_backend.h"

#include <stdio.h>
#include <unistd.h>

static sl_device *device[2];
static sl_stream *stream[2];

static void open_devices(const char *backend)
{
    for (int i = 0; i < 2; i++) {
        if (sl_device_open(backend, i, NULL, 0, &device[i], NULL)) abort();
        stream[i] = sl_device_default_stream(device[i]);
    }
}

static void close_devices(void)
{
    sl_device_drain(device[0]);
    sl_device_drain(device[1]);
    for (int i = 0; i < 2; i++) {
        is_int(fake_stats(device[i]).comms, 0, "device %d has no communicator left", i);
        sl_device_release(device[i]);
    }
    is_int(fake.devices + fake.streams + fake.buffers + fake.comms, 0, "nothing is left open");
}

static sl_tensor *tensor(int rank, sl_dtype dtype, int64_t n)
{
    return fake_tensor_2d(device[rank], dtype, SL_ON_DEVICE, 1, n);
}

static sl_tensor *floats(int rank, int64_t n) { return tensor(rank, SL_FLOAT32, n); }

static sl_comm_call reduce(sl_comm *comm, sl_tensor *t)
{
    return (sl_comm_call){ .comm = comm,
                           .collective = SL_ALL_REDUCE,
                           .in = t,
                           .out = t,
                           .stream = stream[sl_comm_rank(comm)] };
}

static void release_all(sl_tensor **tensors, int n)
{
    for (int i = 0; i < n; i++)
        sl_tensor_release(tensors[i]);
}

/* ---- life ---- */

static void test_creation(void)
{
    sl_comm *comms[2];
    sl_device *twice[2] = { device[0], device[0] };
    sl_comm_options few = { .channels = -1 };
    fails_with(sl_comm_create(device, 0, NULL, comms, err), SL_EINVAL,
               "0 devices: a communicator has 1 to 65536 ranks", "no devices are refused");
    fails_with(sl_comm_create(twice, 2, NULL, comms, err), SL_EINVAL,
               "ranks 0 and 1 are one GPU (pair 0): each rank needs a GPU of its own",
               "a device has one rank");
    fails_with(sl_comm_create(device, 2, &few, comms, err), SL_EINVAL,
               "channels is -1: it is 1 or more", "channels are counted from 1");
    fake.fail_comms = 1;
    fails_with(sl_comm_create(device, 2, NULL, comms, err), SL_EBACKEND,
               "the fake backend fails as asked", "the backend's failure is reported");
    is_int(fake_stats(device[0]).comms + fake.comms, 0, "and leaves nothing");
    if (sl_comm_create(device, 2, NULL, comms, NULL)) abort();
    is_int(sl_comm_rank(comms[1]), 1, "the second device has rank 1");
    is_int(sl_comm_size(comms[0]), 2, "of two");
    ok(sl_comm_local(comms[1], 0) == comms[0] && sl_comm_local_count(comms[0]) == 2,
       "each finds the others of its process");
    is_int(fake_stats(device[1]).comms, 1, "each device counts its rank");
    sl_comm_release(comms[0]);
    is_int(fake.comms, 1, "ranks of a process live together");
    sl_comm_release(comms[1]);
    is_int(fake.comms, 0, "and go together");
}

static void test_other_backends(void)
{
    sl_comm *comms[2];
    sl_device *plain = fake_open(), *mixed[2] = { device[0], plain };
    fails_with(sl_comm_create(&plain, 1, NULL, comms, err), SL_EUNSUPPORTED,
               "GPUs of backend fake have no collectives in this version",
               "a backend may have no collectives");
    fails_with(sl_comm_create(mixed, 2, NULL, comms, err), SL_EDEVICE,
               "rank 1 is a GPU of backend fake, and rank 0 one of pair: they cannot talk to one "
               "another",
               "ranks are of one backend");
    sl_device_drain(plain);
    sl_device_release(plain);
}

static void test_freeing(void)
{
    sl_comm *comms[2];
    sl_tensor *t[2] = { floats(0, 4), floats(1, 4) };
    if (sl_comm_create(device, 2, NULL, comms, NULL)) abort();
    sl_comm_call calls[2] = { reduce(comms[0], t[0]), reduce(comms[1], t[1]) };

    is_int(sl_comm_call_all(calls, 2, NULL), SL_OK, "a collective of both ranks");
    is_int(comms[1]->in_flight, 1, "is in flight in each");
    fails_with(sl_comm_free(comms[1], err), SL_ESTATE,
               "rank 0 has 1 collective in flight: synchronise first, or abort the communicator",
               "a communicator is not freed in flight");
    fake_complete(2);
    is_int(sl_comm_free(comms[1], NULL), SL_OK, "afterwards it is");
    is_int(fake.comms, 0, "at once");
    ok(sl_comm_is_freed(comms[0]), "for all ranks");
    fails_with(sl_comm_free(comms[0], err), SL_ECLOSED, "the communicator has been freed",
               "once only");
    fails_with(sl_comm_call_all(calls, 2, err), SL_ECLOSED, "the communicator has been freed",
               "and takes no collectives any more");
    sl_comm_release(comms[0]);
    sl_comm_release(comms[1]);

    if (sl_comm_create(device, 2, NULL, comms, NULL)) abort();
    calls[0].comm = comms[0];
    calls[1].comm = comms[1];
    sl_comm_call_all(calls, 2, NULL);
    sl_comm_release(comms[0]);
    sl_comm_release(comms[1]);
    is_int(fake.comms, 1, "operations in flight hold a communicator that nobody else has");
    fake_complete(2);
    sl_device_synchronize(device[0], NULL);
    sl_device_synchronize(device[1], NULL);
    is_int(fake.comms, 0, "until they have retired");

    if (sl_comm_create(device, 2, NULL, comms, NULL)) abort();
    calls[0].comm = comms[0];
    calls[1].comm = comms[1];
    sl_comm_call_all(calls, 2, NULL);
    is_int(sl_comm_abort(comms[0], NULL), SL_OK, "abort ends what is in flight");
    is_int(fake.aborted, 1, "by the backend");
    is_int(fake.comms, 0, "and frees it");
    is_int(comms[0]->in_flight, 0, "nothing is in flight then");
    sl_comm_release(comms[0]);
    sl_comm_release(comms[1]);
    release_all(t, 2);
}

/* ---- what is checked ---- */

static sl_comm *comm[2];

static void both(sl_comm_call *calls, sl_collective collective, sl_tensor *const in[2],
                 sl_tensor *const out[2])
{
    for (int i = 0; i < 2; i++)
        calls[i] = (sl_comm_call){ .comm = comm[i],
                                   .collective = collective,
                                   .in = in[i],
                                   .out = out[i],
                                   .stream = stream[i] };
}

static void test_sizes(void)
{
    sl_tensor *four[2] = { floats(0, 4), floats(1, 4) };
    sl_tensor *eight[2] = { floats(0, 8), floats(1, 8) };
    sl_tensor *five[2] = { floats(0, 5), floats(1, 5) };
    sl_tensor *uneven[2] = { four[0], five[1] };
    sl_comm_call calls[2];
    both(calls, SL_ALL_REDUCE, four, eight);
    fails_with(
        sl_comm_call_all(calls, 2, err), SL_ESHAPE,
        "rank 0's output has 8 elements, and needs 4: its input has 4, and there are 2 ranks",
        "all_reduce keeps the size");
    both(calls, SL_ALL_GATHER, four, four);
    fails_with(
        sl_comm_call_all(calls, 2, err), SL_ESHAPE,
        "rank 0's output has 4 elements, and needs 8: its input has 4, and there are 2 ranks",
        "all_gather needs room for all ranks");
    both(calls, SL_REDUCE_SCATTER, five, four);
    fails_with(sl_comm_call_all(calls, 2, err), SL_ESHAPE,
               "rank 0's input has 5 elements: they cannot be divided among 2 ranks",
               "reduce_scatter divides its input");
    both(calls, SL_ALL_REDUCE, uneven, uneven);
    fails_with(sl_comm_call_all(calls, 2, err), SL_ESHAPE,
               "all_reduce of rank 1 is for 5 elements, and all_reduce of rank 0 for 4",
               "two ranks give as many");
    both(calls, SL_ALL_GATHER, four, eight);
    is_int(sl_comm_call_all(calls, 2, NULL), SL_OK, "all_gather fits");
    is_int(fake.last_work.bytes, 32, "its bytes are those of the larger side");
    is_int(fake.last_work.number, 1, "what was refused has not been counted");
    both(calls, SL_REDUCE_SCATTER, eight, four);
    is_int(sl_comm_call_all(calls, 2, NULL), SL_OK, "reduce_scatter fits");
    is_int(fake.last_work.number, 2, "it is each rank's second");
    fake_complete(4);
    release_all(four, 2);
    release_all(eight, 2);
    release_all(five, 2);
}

static void test_tensors(void)
{
    sl_tensor *four[2] = { floats(0, 4), floats(1, 4) };
    sl_tensor *crossed[2] = { four[0], four[0] };
    sl_tensor *bytes[2] = { four[0], tensor(1, SL_UINT8, 4) };
    sl_tensor *host[2] = { four[0], fake_tensor_2d(device[1], SL_FLOAT32, SL_PINNED, 1, 4) };
    sl_comm_call calls[2];
    both(calls, SL_ALL_REDUCE, crossed, crossed);
    fails_with(sl_comm_call_all(calls, 2, err), SL_EDEVICE,
               "rank 1's tensor is on another device (pair 0, Fake) than rank 1 (pair 1, Fake)",
               "a rank's tensor is on its device");
    both(calls, SL_ALL_REDUCE, four, four);
    calls[1].stream = stream[0];
    fails_with(sl_comm_call_all(calls, 2, err), SL_EDEVICE,
               "rank 1's stream is on another device (pair 0, Fake) than rank 1 (pair 1, Fake)",
               "and its stream");
    both(calls, SL_ALL_REDUCE, bytes, bytes);
    fails_advising(sl_comm_call_all(calls, 2, err), SL_EDTYPE, SL_ADVICE_CAST,
                   "rank 1's tensor is uint8, and rank 0's float32", "dtypes are equal");
    both(calls, SL_ALL_REDUCE, host, host);
    fails_advising(sl_comm_call_all(calls, 2, err), SL_EPLACE, SL_ADVICE_COPY_TO_GPU,
                   "rank 1's tensor is on the cpu, and must be on pair 1",
                   "tensors are on the GPU");
    both(calls, SL_ALL_REDUCE, four, bytes);
    fails_advising(sl_comm_call_all(calls, 2, err), SL_EDTYPE, SL_ADVICE_CAST,
                   "rank 1's output is uint8, and its input float32", "in a rank, too");
    sl_tensor_free(bytes[1], NULL);
    both(calls, SL_ALL_REDUCE, bytes, bytes);
    fails_with(sl_comm_call_all(calls, 2, err), SL_ECLOSED, "rank 1's tensor has been freed",
               "a freed tensor is refused");
    sl_tensor_release(bytes[1]);
    sl_tensor_release(host[1]);
    release_all(four, 2);
}

static void test_overlap(void)
{
    sl_tensor *all[2] = { floats(0, 8), floats(1, 8) }, *part[2], *wrong[2];
    sl_comm_call calls[2];
    for (int i = 0; i < 2; i++) {
        if (sl_tensor_narrow(all[i], 1, 4 * i, 4, &part[i], NULL)) abort();
        if (sl_tensor_narrow(all[i], 1, 2, 4, &wrong[i], NULL)) abort();
    }
    both(calls, SL_ALL_GATHER, part, all);
    is_int(sl_comm_call_all(calls, 2, NULL), SL_OK, "all_gather in place: the rank's own part");
    both(calls, SL_REDUCE_SCATTER, all, part);
    is_int(sl_comm_call_all(calls, 2, NULL), SL_OK, "reduce_scatter likewise");
    both(calls, SL_ALL_GATHER, wrong, all);
    fails_with(sl_comm_call_all(calls, 2, err), SL_EINVAL,
               "rank 0's input and output share some of their bytes: they can be the same tensor, "
               "the smaller one the rank's part of the larger, or lie apart",
               "any other part is refused");
    fake_complete(4);
    release_all(wrong, 2);
    release_all(part, 2);
    release_all(all, 2);
}

static void test_peers(void)
{
    sl_tensor *t[2] = { floats(0, 4), floats(1, 4) };
    sl_comm_call calls[2];
    both(calls, SL_BROADCAST, t, t);
    calls[0].peer = calls[1].peer = 2;
    fails_with(sl_comm_call_all(calls, 2, err), SL_EINVAL,
               "rank 0 gives 2 as root: there are ranks 0 to 1", "an unknown root");
    calls[0].peer = 0;
    calls[1].peer = 1;
    fails_with(sl_comm_call_all(calls, 2, err), SL_EINVAL, "rank 1 gives 1 as root, and rank 0 0",
               "two roots");
    calls[1].peer = 0;
    is_int(sl_comm_call_all(calls, 2, NULL), SL_OK, "one root");
    is_int(fake.last_work.n, 0, "a rank that is not the root reads nothing");
    is_int(fake.last_work.m, 4, "and writes its tensor");
    both(calls, SL_ALL_REDUCE, t, t);
    calls[1].reduction = SL_MAX;
    fails_with(sl_comm_call_all(calls, 2, err), SL_EINVAL,
               "rank 1 gives \"max\" as op, and rank 0 \"sum\"", "two reductions");
    calls[1].collective = SL_REDUCE_SCATTER;
    calls[1].out = t[1];
    fails_with(sl_comm_call_all(calls, 1, err), SL_ESTATE,
               "rank 1 has no part in it: give a tensor for each of the 2 ranks, or call it for "
               "each in one comm:group",
               "a rank alone would hang");
    fake_complete(2);
    release_all(t, 2);
}

static void test_pairs(void)
{
    sl_tensor *t[2] = { floats(0, 4), floats(1, 4) }, *long_one = floats(1, 5);
    sl_comm_call calls[2];
    both(calls, SL_SEND, t, (sl_tensor *[2]){ NULL, NULL });
    calls[0].peer = 1;
    fails_with(sl_comm_call_all(calls, 1, err), SL_ESTATE,
               "rank 0 sends to rank 1, which has no part in this call: put both into one "
               "comm:group",
               "a send needs its recv");
    calls[1] = (sl_comm_call){
        .comm = comm[1], .collective = SL_RECV, .out = long_one, .peer = 0, .stream = stream[1]
    };
    fails_with(sl_comm_call_all(calls, 2, err), SL_ESHAPE,
               "recv of rank 1 is for 5 elements, and send of rank 0 for 4", "of the same size");
    calls[1].out = t[1];
    is_int(sl_comm_call_all(calls, 2, NULL), SL_OK, "the two meet");
    is_int(sl_comm_call_all(calls, 2, NULL), SL_OK, "and again");
    is_int(fake.last_work.number, 2, "as the second between them");
    fake_complete(4);
    sl_tensor_release(long_one);
    release_all(t, 2);
}

/* ---- groups ---- */

static void test_groups(void)
{
    sl_tensor *t[2] = { floats(0, 4), floats(1, 4) }, *u[2] = { floats(0, 6), floats(1, 6) };
    sl_comm_call a[2], b[2];
    int before = fake.groups;
    both(a, SL_ALL_REDUCE, t, t);
    both(b, SL_ALL_REDUCE, u, u);
    sl_comm_group_begin();
    sl_comm_call_all(&a[0], 1, NULL);
    sl_comm_group_begin();
    sl_comm_call_all(&b[0], 1, NULL);
    sl_comm_call_all(&a[1], 1, NULL);
    is_int(sl_comm_group_end(NULL), SL_OK, "groups nest");
    sl_tensor_free(t[1], NULL);
    is_int(fake.groups, before, "nothing is enqueued before the outermost end");
    fails_with(sl_comm_free(comm[0], err), SL_ESTATE, "the open group has collectives of it",
               "an open group holds its communicator");
    fails_with(sl_comm_call_all(&a[1], 1, err), SL_ECLOSED, "rank 1's tensor has been freed",
               "a call that fails is not in the group");
    sl_comm_call_all(&b[1], 1, NULL);
    is_int(sl_comm_group_end(NULL), SL_OK, "the outermost end enqueues");
    is_int(fake.groups, before + 1, "once");
    is_int(fake.grouped, 4, "all that was called");
    fake_complete(4);
    sl_device_synchronize(device[1], NULL);

    sl_comm_group_begin();
    sl_comm_call_all(&b[0], 1, NULL);
    fails_with(sl_comm_group_end(err), SL_ESTATE,
               "rank 1 has no part in it: give a tensor for each of the 2 ranks, or call it for "
               "each in one comm:group",
               "a group without one of its ranks is refused");
    sl_comm_group_begin();
    sl_comm_call_all(&b[0], 1, NULL);
    sl_comm_group_abort();
    is_int(fake_stats(device[0]).ops_in_flight, 0, "a group that is given up enqueues nothing");
    fake.fail_enqueues = 1;
    fails_with(sl_comm_call_all(b, 2, err), SL_EBACKEND, "the fake backend fails as asked",
               "the backend may refuse a group");
    is_int(comm[0]->in_flight, 0, "then none of it is in flight");
    is_int(sl_comm_call_all(b, 2, NULL), SL_OK, "and the next one goes on");
    fake_complete(2);
    release_all(t, 2);
    release_all(u, 2);
}

static void test_captured(void)
{
    sl_tensor *t[2] = { floats(0, 4), floats(1, 4) };
    sl_stream *own;
    sl_comm_call calls[2];
    sl_graph *graph = NULL;
    if (sl_stream_create(device[1], NULL, &own, NULL)) abort();
    both(calls, SL_ALL_REDUCE, t, t);
    calls[1].stream = own;
    if (sl_stream_begin_capture(own, SL_CAPTURE_RELAXED, NULL)) abort();
    fails_with(sl_comm_call_all(calls, 2, err), SL_EUNSUPPORTED,
               "rank 1's stream \"stream 1\" is captured: a graph of streamlab has no collectives",
               "collectives are not captured");
    sl_stream_end_capture(own, &graph, NULL);
    sl_graph_release(graph);
    sl_comm_group_begin();
    sl_comm_call_all(calls, 2, NULL);
    if (sl_stream_begin_capture(own, SL_CAPTURE_RELAXED, NULL)) abort();
    fails_with(sl_comm_group_end(err), SL_EUNSUPPORTED,
               "rank 1's stream \"stream 1\" is captured: a graph of streamlab has no collectives",
               "nor those of a group whose stream is captured before its end");
    is_int(comm[0]->in_flight + comm[1]->in_flight, 0, "of which none is in flight then");
    sl_stream_end_capture(own, &graph, NULL);
    is_int((int64_t)sl_graph_node_count(graph), 0, "and the capture has none of it");
    sl_graph_release(graph);
    sl_stream_release(own);
    release_all(t, 2);
}

/* ---- races ---- */

static void test_races(void)
{
    sl_tensor *t[2] = { floats(0, 4), floats(1, 4) };
    sl_stream_options options = { .non_blocking = true };
    sl_stream *other;
    sl_comm_call calls[2];
    if (sl_stream_create(device[1], &options, &other, NULL)) abort();
    sl_check(SL_CHECK_ERROR, NULL);
    both(calls, SL_ALL_REDUCE, t, t);
    is_int(sl_comm_call_all(calls, 2, NULL), SL_OK, "collectives are checked for races");
    is_int(sl_stream_wait_stream(other, stream[1], NULL), SL_OK, "a stream waits for one");
    is_int(sl_tensor_fill(t[1], 1, other, NULL), SL_OK, "and may write its result");
    is_int(sl_comm_call_all(calls, 2, NULL), SL_ERACE, "the next one does not wait for that");
    is_int(comm[0]->in_flight, 1, "and is not enqueued, nor that of the other rank");
    is_int(sl_stream_wait_stream(stream[1], other, NULL), SL_OK, "when its stream has waited");
    is_int(sl_comm_call_all(calls, 2, NULL), SL_OK, "it is");
    sl_check(SL_CHECK_OFF, NULL);
    fake_complete(FAKE_MOST_OPS);
    sl_device_synchronize(device[0], NULL);
    sl_device_synchronize(device[1], NULL);
    sl_stream_release(other);
    release_all(t, 2);
}

/* ---- recordings ---- */

static void test_recording(void)
{
    sl_tensor *t[2] = { tensor(0, SL_BFLOAT16, 4), tensor(1, SL_BFLOAT16, 4) };
    sl_timeline *timeline = NULL;
    sl_comm_call calls[2];
    const sl_span *spans;
    size_t n = 0;
    both(calls, SL_ALL_REDUCE, t, t);
    calls[0].reduction = calls[1].reduction = SL_AVG;
    sl_record_start(device[0], "test", &timeline, NULL);
    sl_comm_call_all(calls, 2, NULL);
    fake_complete(2);
    sl_device_synchronize(device[0], NULL);
    sl_record_stop(device[0], timeline);
    spans = spans_of(timeline, &n);
    if (ok(n == 1, "a recording has the rank of its device")) {
        is_str(sl_timeline_text(timeline, spans[0].name), "ncclDevKernel_AllReduce_Avg_bf16",
               "by NCCL's name of the kernel");
        is_int(spans[0].kind, SL_SPAN_COLLECTIVE, "a collective");
        is_int(spans[0].bytes, 8, "with its bytes");
        const sl_collective_note *note = sl_timeline_find_collective(timeline,
                                                                     spans[0].correlation);
        ok(note && note->collective == SL_ALL_REDUCE && note->reduction == SL_AVG
               && note->dtype == SL_BFLOAT16 && note->in_elems == 4 && note->out_elems == 4
               && note->rank == 0 && note->ranks == 2 && note->peer == -1 && note->number > 0,
           "and what it is");
    }
    sl_timeline_release(timeline);
    release_all(t, 2);
}

/* ---- one rank alone, where the backend allows it ---- */

static void test_alone(void)
{
    sl_tensor *t[2] = { floats(0, 4), floats(1, 4) };
    sl_comm_call calls[2];
    both(calls, SL_ALL_REDUCE, t, t);
    is_int(sl_comm_call_all(&calls[0], 1, NULL), SL_OK, "rank 0 calls all_reduce");
    calls[1].collective = SL_BROADCAST;
    fails_with(sl_comm_call_all(&calls[1], 1, err), SL_EINVAL,
               "call 1 of rank 1 is broadcast, and of rank 0 all_reduce: all ranks call the same "
               "collectives in the same order",
               "rank 1 must call the same");
    calls[1].collective = SL_ALL_REDUCE;
    is_int(sl_comm_call_all(&calls[1], 1, NULL), SL_OK, "and may do so later");
    fake_complete(2);
    release_all(t, 2);
}

/* ---- several processes ---- */

static void test_processes(void)
{
    sl_comm_id id;
    sl_comm *joined = NULL;
    char path[] = "/tmp/streamlab-comm-test.XXXXXX";
    int fd = mkstemp(path), rank = -1, size = -1;
    if (fd < 0) abort();
    close(fd);
    fails_with(sl_comm_join(device[0], 2, 2, &id, NULL, &joined, err), SL_EINVAL,
               "rank is 2: of 2 ranks it is 0 to 1", "ranks count from 0");
    if (sl_comm_join_by_file(device[0], 1, 2, path, 0, NULL, &joined, NULL) != SL_EIO) abort();
    unlink(path);
    if (sl_comm_join_by_file(device[0], 1, 2, path, 0, NULL, &joined, NULL) != SL_ESTATE) abort();
    ok(true, "a file that rank 0 did not write, or has not written, is refused");
    is_int(sl_comm_join_by_file(device[0], 0, 2, path, 1, NULL, &joined, NULL), SL_OK,
           "rank 0 joins");
    ok(fake.has_comm_id, "by the id that it has made");
    ok(access(path, F_OK) != 0, "and removes the file when all have joined");
    is_int(sl_comm_local_count(joined), 1, "the process has one rank");
    sl_comm_release(joined);

    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("PMI_RANK");
    unsetenv("RANK");
    setenv("SLURM_PROCID", "3", 1);
    setenv("SLURM_NTASKS", "8", 1);
    is_int(sl_comm_rank_here(&rank, &size, NULL), SL_OK, "Slurm gives");
    ok(rank == 3 && size == 8, "rank and size");
    setenv("SLURM_NTASKS", "many", 1);
    fails_with(sl_comm_rank_here(&rank, &size, err), SL_EINVAL,
               "SLURM_NTASKS is \"many\": it should be a number", "which are numbers");
    unsetenv("SLURM_PROCID");
    is_int(sl_comm_rank_here(&rank, &size, NULL), SL_ENOTFOUND, "or nobody does");
}

int main(void)
{
    plan(0);
    open_devices("pair");
    test_creation();
    test_other_backends();
    test_freeing();
    if (sl_comm_create(device, 2, NULL, comm, NULL)) abort();
    test_sizes();
    test_tensors();
    test_overlap();
    test_peers();
    test_pairs();
    test_groups();
    test_captured();
    test_races();
    test_recording();
    sl_comm_release(comm[0]);
    sl_comm_release(comm[1]);
    test_processes();
    close_devices();
    open_devices("alone");
    if (sl_comm_create(device, 2, NULL, comm, NULL)) abort();
    test_alone();
    sl_comm_release(comm[0]);
    sl_comm_release(comm[1]);
    close_devices();
    return done_testing();
}
