-- 30-stacks.t.lua - streamlab record --stacks: at which lines of a compiled program its calls are
-- made. The program is real, compiled here; CUDA is played (played_launch.c).
package.path = "tests/record/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local sanitized = require "sanitized"
local shell = require "shell"

local folder, played, sh, build = require "played" "played_launch.so"
local prefix = sanitized.prefix(build .. "/libstreamlab_record.so")

if select(3, sh "${CXX:-c++} --version") ~= 0 then
    tap.skip_all "there is no C++ compiler"
end

-- ---- the program --------------------------------------------------------------------------------

-- Its functions are not inlined, nor left for a jump. `scale` is what nvcc makes of a kernel for
-- the host, and cudaPlayed a function of the run time, which nvcc links into programs.
shell.write(folder .. "/program.cc", [[
#include <dlfcn.h>
#define FAR __attribute__((noinline))
static void (*launch)(const char *);
static void (*launch_kernel)(const char *, const void *);
static volatile int after;
namespace model {
template <class T> struct Net {
    FAR void forward(T x)
    {
        launch("forward");
        if (x > 0) launch("again");
        after = 1;
    }
};
}
FAR void scale(float *x) { launch_kernel("kernel", (const void *)scale); after = x != 0; }
static FAR void cudaPlayed(void) { launch("run time"); after = 1; }
FAR void step(void)
{
    scale(nullptr);
    cudaPlayed();
    after = 1;
}
int main(int argc, char **argv)
{
    void *cuda = dlopen(argv[1], RTLD_NOW);
    launch = (void (*)(const char *))dlsym(cuda, "launch");
    launch_kernel = (void (*)(const char *, const void *))dlsym(cuda, "launch_kernel");
    model::Net<float> net;
    for (int i = 0; i < 2; i++)
        net.forward(i);
    step();
    launch("main");
    return 0;
}
]])
sh(("cp %s/played_launch.so libcudart.so.13"):format(played))

local function compile(flags)
    local _, err, code = sh(("${CXX:-c++} %s -o program program.cc -ldl"):format(flags))
    return code == 0, err
end

-- "NAME WHERE" of each operation, in the order of issue.
local function record(options)
    local out, err, code = sh(('rm -rf s; "$P" record --quiet --spools s %s -- %s./program '
        .. "$PWD/libcudart.so.13"):format(options, prefix))
    local list = {}
    for _, span in ipairs(lab.load(folder .. "/s"):spans()) do
        list[#list + 1] = span.name .. " " .. span.where
    end
    return table.concat(list, "\n"), out .. err .. code
end

-- ---- lines --------------------------------------------------------------------------------------

local expected <const> = [[
forward program.cc:10 in model::Net<float>::forward
forward program.cc:10 in model::Net<float>::forward
again program.cc:11 in model::Net<float>::forward
kernel program.cc:20 in step
run time program.cc:21 in step
main program.cc:33 in main]]
for _, flags in ipairs { "-O0 -gdwarf-5", "-O2 -gdwarf-4" } do
    tap.ok(compile(flags), flags .. ": the program is compiled")
    local found, said = record "--stacks"
    tap.is(said, "0", flags .. ": it runs, and nothing is said")
    tap.is(found, expected, flags .. ": each call is at its line")
end
tap.is(record "":gsub(" [^\n]*", ""):gsub("\n", " "), "forward forward again kernel run main",
    "without --stacks the calls are the same")
tap.is(record "":match " program", nil, "and have no lines")
local shown = sh(('"$P" record --stacks -- %s./program $PWD/libcudart.so.13'):format(prefix))
tap.like(shown:gsub("%s+", " "),
    "issuing forward in stream 7 at program.cc:10 in model::N.*| launch%(\"forward\"%); ",
    "an explanation names the line, and quotes it")

tap.ok(compile "-O0", "without -g")
tap.is((record "--stacks":gsub("0x%x+", "ADDRESS")), [[
forward program+ADDRESS in model::Net<float>::forward
forward program+ADDRESS in model::Net<float>::forward
again program+ADDRESS in model::Net<float>::forward
kernel program+ADDRESS in step
run time program+ADDRESS in step
main program+ADDRESS in main]], "the function is known, and where in the program")
tap.ok(compile "-O0 -s", "without symbols")
tap.like(record "--stacks", "^forward program%+0x%x+\n", "where in the program")

-- Eight functions of the run time, which is as many frames as are kept.
shell.write(folder .. "/deep.cc", [[
#include <dlfcn.h>
#define FAR extern "C" __attribute__((noinline)) void
static void (*launch)(const char *);
FAR cudaInner(void) { launch("deep"); asm volatile(""); }
FAR cudaSecond(void) { cudaInner(); asm volatile(""); }
FAR cudaThird(void) { cudaSecond(); asm volatile(""); }
FAR cudaFourth(void) { cudaThird(); asm volatile(""); }
FAR cudaFifth(void) { cudaFourth(); asm volatile(""); }
FAR cudaSixth(void) { cudaFifth(); asm volatile(""); }
FAR cudaSeventh(void) { cudaSixth(); asm volatile(""); }
FAR cudaOuter(void) { cudaSeventh(); asm volatile(""); }
int main(int argc, char **argv)
{
    launch = (void (*)(const char *))dlsym(dlopen(argv[1], RTLD_NOW), "launch");
    cudaOuter();
    return 0;
}
]])
sh "${CXX:-c++} -O0 -o program deep.cc -ldl"
local address, name = record "--stacks":match "^deep program%+(0x%x+) in (%S+)$"
local from, bytes = sh "nm -S program":match "(%x+) (%x+) %a cudaOuter\n"
tap.is(name, "cudaOuter", "of frames that are all the run time's it is the outermost one")
local offset = tonumber(address) - tonumber(from, 16)
tap.ok(offset >= 0 and offset < tonumber(bytes, 16), "and the address is in that function")

-- What nvcc of CUDA 13 makes of kernels for the host: of scale(float *), add<float>(float *), and
-- plain, which has a name of C.
shell.write(folder .. "/stubs.cc", [[
#include <dlfcn.h>
#define FAR __attribute__((noinline))
static void (*launch_handle)(const char *);
static volatile int after;
FAR void __cudaLaunchKernel(const char *name) { launch_handle(name); after = 1; }
static FAR void __cudaLaunchKernel_helper(const char *name) { __cudaLaunchKernel(name); after = 1; }
FAR void __device_stub__Z5scalePf(float *) { __cudaLaunchKernel_helper("scale"); after = 1; }
FAR void scale(float *x) { __device_stub__Z5scalePf(x); after = 1; }
static FAR void __device_stub__Z3addIfEvPT_(float *) { __cudaLaunchKernel_helper("add"); after = 1; }
template <class T> FAR void __wrapper__device_stub_add(T *&x)
{
    __device_stub__Z3addIfEvPT_(x);
    after = 1;
}
template <class T> FAR void add(T *x) { __wrapper__device_stub_add<T>(x); after = 1; }
FAR void __device_stub__plain(void) { __cudaLaunchKernel_helper("plain"); after = 1; }
extern "C" FAR void plain(void) { __device_stub__plain(); after = 1; }
FAR void step(void)
{
    scale(nullptr);
    add<float>(nullptr);
    plain();
    after = 1;
}
int main(int argc, char **argv)
{
    launch_handle = (void (*)(const char *))dlsym(dlopen(argv[1], RTLD_NOW), "launch_handle");
    step();
    return 0;
}
]])
sh "${CXX:-c++} -O0 -g -o program stubs.cc -ldl"
tap.is(record "--stacks", [[
scale stubs.cc:20 in step
add stubs.cc:21 in step
plain stubs.cc:22 in step]], "a launch is where the program writes it, not in what nvcc makes")

-- Code that a program makes as it runs is in no module: these are not listed again for each of its
-- calls. The program takes the loader's function over, and counts what the recorder goes through.
shell.write(folder .. "/made.cc", [[
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
typedef int (*each)(dl_phdr_info *, size_t, void *);
static each visit;
static int listings, visited;
static int count(dl_phdr_info *object, size_t bytes, void *ud)
{
    visited++;
    return visit(object, bytes, ud);
}
extern "C" int dl_iterate_phdr(each asked, void *ud)
{
    static int (*loader)(each, void *) = (int (*)(each, void *))dlsym(RTLD_NEXT, "dl_iterate_phdr");
    Dl_info who;
    if (!dladdr((void *)asked, &who) || !strstr(who.dli_fname, "libstreamlab_record"))
        return loader(asked, ud);
    visit = asked;
    visited = 0;
    const int result = loader(count, ud);
    listings += visited > 1;
    return result;
}
typedef void (*launcher)(const char *);
#if defined __x86_64__ // push rbp; mov rax,rdi; mov rdi,rsi; call rax; pop rbp; ret
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0xff, 0xd0, 0x5d,
                                      0xc3 };
#elif defined __aarch64__ // stp x29,x30,[sp,-16]!; mov x2,x0; mov x0,x1; blr x2; ldp ...; ret
static const unsigned code[] = { 0xa9bf7bfd, 0xaa0003e2, 0xaa0103e0, 0xd63f0040, 0xa8c17bfd,
                                 0xd65f03c0 };
#endif
int main(int argc, char **argv)
{
    launcher launch = (launcher)dlsym(dlopen(argv[1], RTLD_NOW), "launch");
    void *made = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(made, code, sizeof code);
    __builtin___clear_cache((char *)made, (char *)made + sizeof code);
    for (int i = 0; i < 50; i++)
        ((void (*)(launcher, const char *))made)(launch, "made");
    printf("%d\n", listings);
    return 0;
}
]])
local _, why, status = sh "${CXX:-c++} -O0 -rdynamic -o program made.cc -ldl"
tap.is(why .. status, "0", "a program that makes code is compiled")
local listed = select(2, record "--stacks")
tap.like(listed, "^[12]\n0$", "code in no module has the modules listed once, not at each call")

-- The program's own library has a name that begins as those of CUDA do.
shell.write(folder .. "/host.cc", [[
#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *library = dlopen("./libcustom.so", RTLD_NOW);
    return ((int (*)(int, char **))dlsym(library, "_Z3runiPPc"))(argc, argv);
}
]])
sh "${CXX:-c++} -O0 -g -shared -fPIC -Dmain=run -o libcustom.so program.cc -ldl"
sh "${CXX:-c++} -o program host.cc -ldl"
tap.like(record "--stacks", "^forward program.cc:10 in model::Net<float>::forward\n",
    "the lines of a library of the program's own are known")

-- A part of the file that says too much: its lines, or all, are not known, and the program runs.
compile "-O0 -gdwarf-5"
local text = shell.read(folder .. "/program")
for _, at in ipairs { 41, 42, 59, 60, 61, 62 } do -- where the sections are, and how many
    shell.write(folder .. "/program", text:sub(1, at - 1) .. "\255" .. text:sub(at + 1))
    local found, said = record "--stacks"
    tap.is(said, "0", ("a damaged file (byte %d) runs"):format(at))
    tap.is(select(2, found:gsub("\n", "")), 5, "and is recorded")
end

-- A program in C needs no libgcc_s, and may find one that is none. A sanitized one needs it.
if prefix == "" then
    sh "mkdir other; echo none > other/libgcc_s.so.1"
    local _, said, code = sh(('LD_LIBRARY_PATH=other "$P" record --quiet --stacks '
        .. "--spools without -- %s/played_program kernels 3"):format(played))
    local tl = lab.load(folder .. "/without")
    tap.is(tl.span_count .. said .. code, "30", "without libgcc_s it runs")
    tap.is(tl.doubts[1] and tl.doubts[1].sentence, "The program's lines are not known: "
        .. "libgcc_s.so.1, which walks stacks, cannot be loaded.",
        "and it says why there are no lines")
end

shell.remove(folder)
tap.done()
