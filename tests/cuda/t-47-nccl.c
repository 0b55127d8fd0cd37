/* t-47-nccl.c - collectives of the CUDA backend with the NCCL of fake_nccl.c: what it is called with,
 * its failures, communicators that end, a lost device, several processes. */
#define _GNU_SOURCE /* mkdtemp */
#include "../../core/comm/ranks.h"
#include "fake_nccl.h"
#include "played_rig.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sl_error err;
static fake_nccl_state *nccl;
static sl_comm *comm[2];

static cudaError_t launch(cudaStream_t stream) { return fake_launch(stream, false, 0); }

/* The library beside this program, which the plugin opens as well. */
static void find_library(const char *program)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", program);
    char *slash = strrchr(path, '/');
    snprintf(slash ? slash + 1 : path, 32, "fake_nccl.so");
    char *real = realpath(path, NULL);
    void *library = real ? dlopen(real, RTLD_NOW | RTLD_LOCAL) : NULL;
    nccl = library ? dlsym(library, "fake_nccl") : NULL;
    if (!nccl) {
        diag("%s: %s", path, dlerror());
        exit(1);
    }
    setenv("STREAMLAB_NCCL", real, 1);
    free(real);
    nccl->launch = launch;
}

static sl_tensor *floats(int rank, int64_t n)
{
    return tensor_on(gpus[rank], SL_ON_DEVICE, SL_FLOAT32, n, &err);
}

static void begin(const sl_comm_options *options)
{
    open_gpus(2);
    check(sl_comm_create(gpus, 2, options, comm, &err), &err, "comm");
    nccl->log[0] = '\0';
}

static void end(const char *after)
{
    sl_comm_release(comm[0]);
    sl_comm_release(comm[1]);
    close_gpus(2, after);
    is_int(nccl->comms, 0, "nor any communicator, after %s", after);
    is_int(nccl->misuses, 0, "and NCCL was called as it asks for");
    nccl->misuses = 0;
}

/* Both ranks, in their streams. */
static sl_status both(sl_collective collective, sl_tensor *in[2], sl_tensor *out[2], int peer,
                      sl_reduction reduction)
{
    sl_comm_call calls[2];
    for (int i = 0; i < 2; i++)
        calls[i] = (sl_comm_call){ .comm = comm[i],
                                   .collective = collective,
                                   .reduction = reduction,
                                   .in = in[i],
                                   .out = out[i],
                                   .peer = peer,
                                   .stream = streams[i] };
    err.msg[0] = '\0';
    nccl->log[0] = '\0';
    return sl_comm_call_all(calls, 2, &err);
}

static void release(sl_tensor *t[2])
{
    sl_tensor_release(t[0]);
    sl_tensor_release(t[1]);
}

/* ---- right use ---- */

static void test_calls(void)
{
    begin(NULL);
    sl_tensor *four[2] = { floats(0, 4), floats(1, 4) }, *two[2] = { floats(0, 2), floats(1, 2) };
    int groups = nccl->groups;
    is_int(both(SL_ALL_REDUCE, four, four, -1, SL_MAX), SL_OK, "all_reduce");
    is_str(nccl->log, "AllReduce rank 0 n 4 type 7 op 2;AllReduce rank 1 n 4 type 7 op 2;",
           "is called for each rank, with NCCL's numbers of dtype and reduction");
    is_int(nccl->groups, groups + 1, "in one group");
    is_int(both(SL_ALL_GATHER, two, four, -1, SL_SUM), SL_OK, "all_gather");
    is_str(nccl->log, "AllGather rank 0 n 2 type 7 apart 1;AllGather rank 1 n 2 type 7 apart 1;",
           "with the elements that a rank gives");
    is_int(both(SL_REDUCE_SCATTER, four, two, -1, SL_AVG), SL_OK, "reduce_scatter");
    is_str(nccl->log, "ReduceScatter rank 0 n 2 type 7 op 4;ReduceScatter rank 1 n 2 type 7 op 4;",
           "with those that it gets");
    is_int(both(SL_BROADCAST, four, four, 1, SL_SUM), SL_OK, "broadcast");
    is_str(nccl->log, "Broadcast rank 0 n 4 type 7 root 1;Broadcast rank 1 n 4 type 7 root 1;",
           "in place, from its root");
    sl_comm_call pair[2] = {
        { comm[0], SL_SEND, SL_SUM, four[0], NULL, 1, streams[0], NULL },
        { comm[1], SL_RECV, SL_SUM, NULL, four[1], 0, streams[1], NULL },
    };
    nccl->log[0] = '\0';
    is_int(sl_comm_call_all(pair, 2, &err), SL_OK, "send and recv");
    is_str(nccl->log, "Send rank 0 n 4 type 7 to 1;Recv rank 1 n 4 type 7 from 0;",
           "to each other");
    sl_tensor *none[2] = { floats(0, 0), floats(1, 0) };
    is_int(both(SL_ALL_REDUCE, none, none, -1, SL_SUM), SL_OK, "all_reduce of no elements");
    is_str(nccl->log, "", "does not reach NCCL");
    is_int(comm[0]->in_flight, 6, "and has its place in the stream all the same");
    sl_device_synchronize(gpus[0], NULL);
    sl_device_synchronize(gpus[1], NULL);
    is_int(comm[0]->in_flight + comm[1]->in_flight, 0, "all of them end");
    release(four);
    release(two);
    release(none);
    end("collectives");
}

static void test_dtypes(void)
{
    static const int numbers[SL_DTYPES] = { 7, 9, 6, 1, 8, 2 }; /* ncclDataType_t in nccl.h */
    begin(NULL);
    for (int dtype = 0; dtype < SL_DTYPES; dtype++) {
        char want[120];
        sl_tensor *t[2];
        for (int i = 0; i < 2; i++)
            t[i] = tensor_on(gpus[i], SL_ON_DEVICE, (sl_dtype)dtype, 3, &err);
        both(SL_ALL_REDUCE, t, t, -1, SL_SUM);
        snprintf(want, sizeof want,
                 "AllReduce rank 0 n 3 type %d op 0;AllReduce rank 1 n 3 type %d op 0;",
                 numbers[dtype], numbers[dtype]);
        is_str(nccl->log, want, "%s is NCCL's type %d", sl_dtype_name((sl_dtype)dtype),
               numbers[dtype]);
        release(t);
    }
    end("all dtypes");
}

static void test_options(void)
{
    const char *multicast = getenv("NCCL_NVLS_ENABLE");
    const char *later = getenv("NCCL_RUNTIME_CONNECT");
    is_str(multicast ? multicast : "not set", "0", "multicast over NVLink is off");
    is_str(later ? later : "not set", "0", "and GPUs are connected at once");
    begin(&(sl_comm_options){ .channels = 8 });
    is_int(nccl->channels, 8, "channels are the configuration's CTAs");
    is_int(nccl->policy, 0, "without a policy");
    end("a communicator of 8 channels");
    begin(&(sl_comm_options){ .copy_engines = true });
    is_int(nccl->policy, 2, "copy engines are NCCL_CTA_POLICY_ZERO");
    is_int(nccl->channels, 0, "without channels");
    end("one with copy engines");
}

/* ---- failures ---- */

static void test_failures(void)
{
    open_gpus(2);
    nccl->fail_init = 3;
    is_int(sl_comm_create(gpus, 2, NULL, comm, &err), SL_EBACKEND, "a failing initialisation");
    is_str(err.msg, "ncclCommInitRank: internal error: the last words", "is a sentence");
    is_int(err.backend_code, 3, "with NCCL's number");
    is_int(nccl->comms, 0, "and leaves nothing");
    check(sl_comm_create(gpus, 2, NULL, comm, &err), &err, "comm");
    sl_tensor *t[2] = { floats(0, 4), floats(1, 4) };
    nccl->fail_calls = 5;
    is_int(both(SL_ALL_REDUCE, t, t, -1, SL_SUM), SL_EBACKEND, "a failing call");
    is_str(err.msg, "ncclAllReduce: internal error: the last words", "names it");
    is_int(comm[0]->in_flight, 0, "nothing is in flight then");
    nccl->fail_ends = 2;
    is_int(both(SL_ALL_REDUCE, t, t, -1, SL_SUM), SL_EBACKEND, "a failing end of a group");
    is_str(err.msg, "ncclGroupEnd: internal error: the last words", "too");
    nccl->async_error = 6;
    is_int(both(SL_ALL_REDUCE, t, t, -1, SL_SUM), SL_EBACKEND, "a failure that comes later");
    is_str(err.msg,
           "the communicator has failed on rank 0: remote process exited or there was a network "
           "error: the last words",
           "is reported by the next call");
    nccl->async_error = 0;
    is_int(both(SL_ALL_REDUCE, t, t, -1, SL_SUM), SL_OK, "the next one works");
    release(t);
    end("failures");
}

static void test_wait_for_nobody(void)
{
    begin(NULL);
    sl_tensor *t[2] = { floats(0, 4), floats(1, 4) };
    fake_hold(0, true);
    both(SL_ALL_REDUCE, t, t, -1, SL_SUM);
    nccl->async_error = 6;
    is_int(sl_stream_synchronize(streams[0], &err), SL_EBACKEND,
           "a wait ends when the communicator has failed");
    nccl->async_error = 0;
    fake_hold(0, false);
    int aborts = nccl->aborts;
    is_int(sl_comm_abort(comm[0], &err), SL_OK, "the communicator is aborted");
    is_int(nccl->aborts, aborts + 2, "in each rank");
    release(t);
    end("a failure in a wait");
}

static void test_lost(void)
{
    begin(NULL);
    sl_tensor *t[2] = { floats(0, 4), floats(1, 4) };
    int aborts = nccl->aborts;
    both(SL_ALL_REDUCE, t, t, -1, SL_SUM);
    sl_device_synchronize(gpus[0], NULL);
    sl_device_synchronize(gpus[1], NULL);
    fake_lose(1);
    is_int(both(SL_ALL_REDUCE, t, t, -1, SL_SUM), SL_EFAULT, "a lost device is reported");
    release(t);
    sl_comm_release(comm[0]);
    sl_comm_release(comm[1]);
    is_int(nccl->aborts, aborts + 1, "its rank is aborted, not destroyed");
    close_gpus(2, "a lost device");
}

/* ---- several processes ---- */

static void test_processes(void)
{
    char folder[] = "/tmp/streamlab-nccl.XXXXXX", path[64];
    if (!mkdtemp(folder)) abort();
    snprintf(path, sizeof path, "%s/id", folder);
    open_gpus(1);
    sl_comm *alone = NULL;
    is_int(sl_comm_join_by_file(gpus[0], 0, 2, path, 5, NULL, &alone, &err), SL_OK,
           "one rank of two joins");
    sl_tensor *t = floats(0, 4);
    sl_comm_call call = { alone, SL_ALL_REDUCE, SL_SUM, t, t, -1, streams[0], NULL };
    nccl->log[0] = '\0';
    is_int(sl_comm_call_all(&call, 1, &err), SL_OK, "its collective is that of one rank");
    is_str(nccl->log, "AllReduce rank 0 n 4 type 7 op 0;", "and needs no other of this process");
    call = (sl_comm_call){ alone, SL_SEND, SL_SUM, t, NULL, 1, streams[0], NULL };
    is_int(sl_comm_call_all(&call, 1, &err), SL_OK, "nor does a send");
    sl_tensor_release(t);
    sl_device_synchronize(gpus[0], NULL);
    is_int(sl_comm_free(alone, &err), SL_OK, "it is freed");
    sl_comm_release(alone);
    close_gpus(1, "one rank of two");
    if (rmdir(folder) != 0) diag("%s is left", folder);
}

int main(int argc, char **argv)
{
    (void)argc;
    plan(0);
    find_library(argv[0]);
    test_calls();
    test_dtypes();
    test_options();
    test_failures();
    test_wait_for_nobody();
    test_lost();
    test_processes();
    return done_testing();
}
