-- 66-snippets.t.lua - what documents show in PyTorch and CUDA C++ (blocks ```python and ```cuda) is
-- Python and CUDA: each compiles, and so do both sides of each change that whatif --code prints.
-- Where there is PyTorch or CuPy, it has the names, too.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

-- What snippets of CUDA may use without declaring it. `work` is any kernel.
local prelude <const> = [[
#include <chrono>
#include <cstdio>
#include <cstring>
#include <algorithm>
#include <thread>
#include <cublas_v2.h>
#include <cuda_fp16.h>
__global__ void work(float *x, int n) { if (n > 1 << 30) x[0] = 1; }
__global__ void fill(float *x, float value, int n) { if (n > 0) x[0] = value; }
__global__ void square(const float *x, float *y, int n) { if (n > 0) y[0] = x[0] * x[0]; }
const int n = 1 << 20, m = 1024, blocks = 1024, threads = 256;
const size_t bytes = n * sizeof(float);
float *x, *y, *left, *right, *product, *host, *own;
cudaStream_t s, a, b, up, first, compute, down, side, producer, consumer, stream1, stream2;
cublasHandle_t blas;
const int gpus = 2;
float *xs[gpus], *ys[gpus];
cudaStream_t streams[gpus], sides[gpus];
cudaEvent_t ready[gpus], done[gpus];
#if __has_include(<nccl.h>)
#include <nccl.h>
ncclComm_t comms[gpus];
#endif
]]

local folder <const> = shell.folder()

local function documents()
    local pipe <close> = io.popen("ls scripts/labs/*/README.md scripts/experiments/*.md "
        .. "docs/guide/*.md")
    local list = {}
    for path in pipe:lines() do list[#list + 1] = path end
    return list
end

-- {path =, line =, text =} of each block of that kind.
local function snippets(kind)
    local list = {}
    for _, path in ipairs(documents()) do
        local number, open = 0, nil
        for line in io.lines(path) do
            number = number + 1
            if open and line == "```" then
                list[#list + 1], open = open, nil
            elseif open then
                open.text = open.text .. line .. "\n"
            elseif line == "```" .. kind then
                open = { path = path, line = number + 1, text = "" }
            end
        end
    end
    return list
end

-- ---- changes as code ----------------------------------------------------------------------------

local words <const> = debug.getregistry()["streamlab.internals"].words

-- What snippets of changes may use besides.
local cuda_names <const> = [[
__global__ void add(float *a, float *b, int) { b[0] += a[0]; }
__global__ void relu(float *a, int) { a[0] = 0; }
__global__ void add_relu(float *a, float *b, int) { b[0] += a[0]; }
__global__ void count_up(float *a, int) { a[0] = 0; }
__global__ void widen(__half *a, float *b, int) { b[0] = __half2float(a[0]); }
void prepare(int = 0) {}
void read(const float *) {}
float *pinned, *sum, *two[2], **batch, one = 1, zero = 0;
__half *half, *pinned_half;
int steps, launches, rank;
cudaEvent_t ready, done, arrived, there[2], used[2];
#ifdef NCCL_MAJOR
ncclComm_t comm;
ncclUniqueId id;
#endif
]]

-- Adds both sides of each row of bindings/words/code_LANGUAGE.lua.
local function add_changes(list, language)
    for key, row in pairs(words["code_" .. language]) do
        for side, other in pairs(row[2] and { before = "+", after = "-" } or {}) do
            local text = ("\n" .. row[2]):gsub("\n%" .. other .. "[^\n]*", "")
                :gsub("\n[ +-]", "\n"):gsub("%$%a+", "2")
            list[#list + 1] = { path = ("%s_%s_%s"):format(language, key:gsub(" ", "_"), side),
                                line = 0, text = text .. "\n", names = cuda_names }
        end
    end
    return list
end

-- Each lab shows both.
for _, kind in ipairs { "python", "cuda" } do
    local has, missing = {}, {}
    for _, snippet in ipairs(snippets(kind)) do has[snippet.path] = true end
    for _, path in ipairs(documents()) do
        if path:find "^scripts/labs/" then
            missing[#missing + 1] = not has[path] and path or nil
        end
    end
    tap.is(table.concat(missing, ", "), "", "all labs have something in " .. kind)
end

-- ---- Python -------------------------------------------------------------------------------------

-- Compiles each file; where torch can be imported, looks up all names "torch.a.b".
local checker <const> = [[
import re, sys
known = {}
for short, name in ("torch", "torch"), ("cp", "cupy"), ("cupyx", "cupyx.distributed"):
    try:
        known[short] = __import__(name)
    except ImportError:
        pass
for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    try:
        compile(text, path, "exec")
    except SyntaxError as e:
        print(e)
    for name in re.findall(r"\b(?:torch|cp|cupyx)(?:\.\w+)+", text):
        value = known.get(name.split(".")[0])
        if value is None:
            continue
        for part in name.split(".")[1:]:
            if not hasattr(value, part):
                print(f"{path}: there is no {name}")
                break
            value = getattr(value, part)
]]

local function check_python(list)
    local paths = {}
    for i, snippet in ipairs(list) do
        paths[i] =
            shell.quote(shell.write(("%s/%s-%d.py"):format(folder, snippet.path:gsub("[/.]", "_"),
            snippet.line), snippet.text))
    end
    shell.write(folder .. "/check.py", checker)
    return shell.sh(("cd %s && python3 check.py %s"):format(folder, table.concat(paths, " ")))
end

if shell.sh "command -v python3" == "" then
    tap.skip("there is no python3", 3)
else
    local list = add_changes(add_changes(snippets "python", "pytorch"), "cupy")
    tap.ok(#list >= 20, "there are snippets of Python")
    local out, err = check_python(list)
    tap.is(out .. err, "", "all of which compile")
    tap.like(check_python { { path = "x", line = 1,
                              text = "with torch.cuda.stream(s)\n    pass\n" } },
        "expected ':'", "one that does not would be found")
end

-- ---- CUDA C++ -----------------------------------------------------------------------------------

-- One file for all: each snippet is a function of its own; kernels that it begins with, up to an
-- empty line, stand before that.
local function cuda_file(list)
    local parts = { prelude }
    for i, snippet in ipairs(list) do
        local kernels, rest = snippet.text:match "^(__global__.-\n\n)(.*)$"
        local skipped = select(2, (kernels or ""):gsub("\n", ""))
        local function at(line) return ('\n#line %d "%s"\n'):format(line, snippet.path) end
        local names = snippet.names and "\n" .. snippet.names or ""
        parts[#parts + 1] = ("namespace snippet_%d {%s%s%s\nvoid run()\n{%s%s}\n}\n"):format(i,
            names, at(snippet.line), kernels or "", at(snippet.line + skipped),
            rest or snippet.text)
    end
    return table.concat(parts)
end

local function compile_cuda(nvcc, list)
    shell.write(folder .. "/all.cu", cuda_file(list))
    -- Without the host's compiler behind it: nvcc has found all mistakes before.
    return shell.sh(("%s -std=c++17 -cuda -o %s/all.ii %s/all.cu 2>&1"):format(nvcc,
        folder, folder))
end

-- Where NCCL's header is not, snippets that call NCCL are left out.
local function those_that_can_compile(nvcc, list)
    shell.write(folder .. "/nccl.cu", "#include <nccl.h>\n")
    local _, _, code = shell.sh(("%s -E %s/nccl.cu"):format(nvcc, folder))
    if code == 0 then return list end
    local others = {}
    for _, snippet in ipairs(list) do
        if not snippet.text:find "nccl" then others[#others + 1] = snippet end
    end
    tap.diag(("there is no nccl.h: %d of %d snippets are left out"):format(#list - #others, #list))
    return others
end

local nvcc <const> = shell.sh("command -v nvcc || ls /usr/local/cuda/bin/nvcc "
    .. "2>/dev/null"):gsub("\n.*", "")
if nvcc == "" or shell.sh("ls " .. nvcc:gsub("[^/]*$", "../include/cublas_v2.h") .. " 2>/dev/null")
        == "" then
    tap.skip("there is no nvcc with cuBLAS", 3)
else
    local list = those_that_can_compile(nvcc, add_changes(snippets "cuda", "cuda"))
    tap.ok(#list >= 20, "there are snippets of CUDA")
    local out, _, code = compile_cuda(nvcc, list)
    tap.is(code, 0, "all of which compile")
    if code ~= 0 then tap.diag(out) end
    out = compile_cuda(nvcc, { { path = "x.md", line = 7, text = "cudaStreamWait(s);\n" } })
    tap.like(out, 'x%.md%(7%): error: identifier "cudaStreamWait"',
             "one that does not would be found, with its line")
end

shell.remove(folder)
tap.done()
