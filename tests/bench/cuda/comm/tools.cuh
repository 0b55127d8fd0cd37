/* tools.cuh - errors, statistics, lines of the table. */
#ifndef RAW_COMM_TOOLS_CUH
#define RAW_COMM_TOOLS_CUH

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime.h>

static void check(int code, int line, const char *call)
{
    if (code == 0) return;
    printf("line %d: %s: error %d (%s)\n", line, call, code, cudaGetErrorName((cudaError_t)code));
    cudaGetLastError();
}
#define CHECK(call) check((int)(call), __LINE__, #call)

typedef std::chrono::steady_clock host_clock;

static double now_us()
{
    return std::chrono::duration<double, std::micro>(host_clock::now().time_since_epoch()).count();
}

static double median(std::vector<double> values)
{
    if (values.empty()) return -1;
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

static double least(const std::vector<double> &values)
{
    return values.empty() ? -1 : *std::min_element(values.begin(), values.end());
}

static double most(const std::vector<double> &values)
{
    return values.empty() ? -1 : *std::max_element(values.begin(), values.end());
}

/* A line of the table, and the same as JSON. `fields` is JSON without braces. */
static void report(const char *section, const std::string &fields, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n{\"section\": \"%s\", %s}\n", section, fields.c_str());
    fflush(stdout);
}

static std::string text(const char *format, ...)
{
    char buffer[600];
    va_list args;
    va_start(args, format);
    vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    return buffer;
}

#endif
