/* raw_graphs.cu - what CUDA graphs do and cost, in plain CUDA C++.
 *
 *   nvcc -O2 -std=c++17 -arch=sm_90 -Xcompiler -Wall,-Wextra tests/bench/cuda/raw_graphs.cu \
 *        -lcublas -o raw_graphs && ./raw_graphs [SECTION...]
 *
 * Sections: rules, costs, gaps, launches, priority, pipeline, values; all of them if none is
 * named. Each runs in a process of its own, so that an error in one leaves the others alone,
 * and prints lines of `name value unit`. The section rules prints for each call what it
 * returns during a capture, and what becomes of the capture. An error is printed with its
 * name; the program goes on. Times are medians, in microseconds unless the line says other.
 * The sections are in graphs/.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "graphs/costs.cuh"
#include "graphs/gaps.cuh"
#include "graphs/launches.cuh"
#include "graphs/pipeline.cuh"
#include "graphs/priority.cuh"
#include "graphs/rules.cuh"
#include "graphs/values.cuh"

struct section {
    const char *name;
    const char *part;
    void (*run)();
    unsigned seconds; /* it is ended after so many */
};

static const section sections[] = {
    { "rules", "calls", rules, 30 },
    { "rules", "states", rules_states, 10 },
    { "rules", "default_streams", rules_null, 10 },
    { "rules", "cublas", rules_blas, 20 },
    { "rules", "destroy", rules_destroy, 10 },
    { "costs", "", costs, 45 },
    { "gaps", "", gaps, 45 },
    { "launches", "", launches, 20 },
    { "priority", "", priority, 20 },
    { "pipeline", "", pipeline, 30 },
    { "values", "", values, 20 },
};

/* Runs in a process of its own; the parent never calls CUDA. */
static void run_section(const section &one)
{
    double began = now_us();
    printf("## %s %s\n", one.name, one.part);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(one.seconds);
        setvbuf(stdout, nullptr, _IOLBF, 0);
        if (TRY(cudaSetDevice(0)) && TRY(cudaFree(nullptr)) && TRY(launch_empty(nullptr))
            && TRY(cudaDeviceSynchronize()))
            one.run();
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
        printf("error section %s: no process\n", one.name);
    else if (WIFSIGNALED(status))
        printf("error section %s %s: ended by signal %d\n", one.name, one.part, WTERMSIG(status));
    row((now_us() - began) / 1e6, "s", "section.%s%s%s.took", one.name, *one.part ? "." : "",
        one.part);
}

int main(int count, char **names)
{
    setvbuf(stdout, nullptr, _IOLBF, 0);
    for (const section &one : sections) {
        bool wanted = count < 2;
        for (int i = 1; i < count; i++)
            wanted = wanted || strcmp(names[i], one.name) == 0;
        if (wanted) run_section(one);
    }
    return 0;
}
