# tests/tests.mk: the tests and benchmarks; the Makefile includes it. tests/README.md says which
# suite is for what, and how long each lane takes.

# How many test files run at a time: two more than there are processors, since some wait.
TEST_JOBS ?= $(shell expr $(PROCESSORS) + 2)
# The releases of Debian for check-bare.
BARE_SUITES ?= bookworm trixie
# Traces for check-hta to read instead of its own.
TRACES ?=
# For fuzz: a clang with libFuzzer, and for how many seconds it and fuzz-api run.
FUZZ_CC      ?= $(firstword $(shell for cc in clang clang-19 clang-18 clang-17 clang-16 clang-15 \
                clang-14; do command -v $$cc; done) clang)
FUZZ_SECONDS ?= 600
FUZZ_SEED    ?= 1
# For bench-cuda and bench-calls: -o FILE; for bench-cuda: --only SECTIONS.
BENCH_ARGS ?=

# ---- what there is ----------------------------------------------------------

# tests/core brings a backend of its own; the others use the simulated GPU.
CORE_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/core/t-*.c))
SIM_TESTS  := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/sim/t-*.c tests/emulate/t-*.c tests/timeline/t-*.c))
# The plugin's files against CUDA's libraries played by others (tests/cuda/fake_*.c).
CUDA_TESTS := $(if $(CUDA_LIB),$(patsubst %.c,$(BUILD)/%,$(wildcard tests/cuda/t-*.c)))
# What both backends must do.
BOTH_TESTS := $(sort $(wildcard tests/both/*.t.lua))
LUA_TESTS  := $(sort $(wildcard tests/lua/*.t.lua))
ALL_TESTS  := $(wildcard tests/*.t) $(sort $(wildcard tests/labs/*.t.lua tests/labs/*.t.sh)) \
              $(CORE_TESTS) $(SIM_TESTS) $(CUDA_TESTS) $(BOTH_TESTS) \
              $(LUA_TESTS) $(sort $(wildcard tests/repl/*.t.lua tests/repl/*.t.sh)) \
              $(sort $(wildcard tests/torch/*.t.lua)) \
              $(sort $(wildcard tests/cuda/*.t.sh tests/record/*.t.lua))
# Slow, and rarely the first to fail: these have a lane of their own, check-long.
LONG_TESTS := tests/labs/11-constants.t.lua tests/labs/13-wrong-kernels.t.lua \
              tests/labs/14-right-kernels.t.lua \
              tests/labs/20-attacks.t.lua tests/labs/21-kernel-attacks.t.lua \
              tests/labs/45-hostile-class.t.lua tests/lua/59-random-kernels.t.lua \
              tests/repl/66-snippets.t.lua tests/repl/79-result-tables.t.lua
# The instruments that scripts/measure has.
MEASURE_TESTS := $(sort $(wildcard tests/measure/*.t.lua))
# These try more in check-long than in check: what tap.lua and tap.h call sized.
SIZED_TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(shell grep -lE '[^_a-z]sized\(.*\)' \
               tests/*/t-*.c tests/*/*.t.lua))
# What takes longest begins first, so that no processor is idle at the end.
FIRST      := tests/repl/60-docs.t.lua $(patsubst %,tests/labs/%.t.lua,44-file-names 10-bundled 43-plans \
              45-strange-labs) $(wildcard $(patsubst %,tests/repl/%.t.*,80-install 57-children 58-confine \
              54-api-examples 84-client 52-help 64-lab-command 81-whole-files 41-hints))
TESTS      := $(filter-out $(LONG_TESTS),$(FIRST) $(filter-out $(FIRST),$(ALL_TESTS)))
# On a GPU: the plugin's kernels and plans by themselves, then the suite.
GPU_CHECKS := $(BUILD)/tests/cuda/kernels_check $(BUILD)/tests/cuda/gemm_check
GPU_TESTS  := tests/cuda/00-plugin.t.sh $(GPU_CHECKS) $(BOTH_TESTS) \
              $(patsubst %,tests/lua/20-api-%.t.lua,fields kernels tensors views streams cuda) \
              tests/repl/46-gpu.t.lua tests/repl/53-values-gpu.t.lua
# The plain CUDA C that bench-cuda compares with.
RAW_C      := $(patsubst %,$(BUILD)/tests/bench/cuda/%.o,raw raw_enqueue raw_custom raw_puzzler raw_pipeline raw_matmul raw_threads)
RAW        := $(BUILD)/tests/bench/raw.so $(BUILD)/tests/bench/raw_first
# The terminal of tests/repl/session.lua, at which tests of the prompt type.
TERMINAL   := $(BUILD)/tests/repl/terminal.so
# The system calls that 57-children and 58-confine try.
CALLS      := $(BUILD)/tests/repl/calls.so
# The program as it is without libseccomp.
PLAIN      := $(BUILD)/tests/repl/streamlab-plain
TOOLS      := $(BUILD)/tests/oom/failalloc.so $(BUILD)/tests/oom/runner \
              $(BUILD)/tests/bench/timeit $(BUILD)/tests/bench/kernel_speed

TEST_ENV = STREAMLAB='$(abspath $(BUILD)/streamlab)' \
           STREAMLAB_SO='$(abspath $(BUILD)/streamlab.so)' STREAMLAB_LUA='$(LUA_PROG)' \
           STREAMLAB_SANITIZE='$(SANITIZE)'
PROVE    = $(TEST_ENV) prove -j$(TEST_JOBS) --exec tests/run

# ---- how it is linked --------------------------------------------------------

# Tests run once, so that they are compiled as quickly as possible; what they test stays as it is.
# The checks of copies' sizes need optimisation.
FAKE_BACKEND := $(addprefix $(BUILD)/tests/core/,fake_backend.o fake_activities.o)
FAST := $(foreach room,core sim emulate timeline cuda,$(BUILD)/tests/$(room)/t-%.o) \
        $(FAKE_BACKEND)
$(FAST): LEVEL := -O0
$(FAST): HARDEN_COMPILE :=

# What they test is linked once, as shared libraries beside their folders, for a hundred programs. The
# core alone lacks the list of backends, which tests/core brings.
$(BUILD)/tests/core.so: $(filter-out %/core/backends.o,$(CORE)) $(TIMELINE)
$(BUILD)/tests/sim.so: $(LIBRARY)
$(addprefix $(BUILD)/tests/,core.so sim.so played.so):
	$(call say,link,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BOTH_FLAGS) $(LDFLAGS) $(if $(filter Darwin,$(SYSTEM)),-dynamiclib \
	    -undefined dynamic_lookup -Wl$(comma)-install_name$(comma)@rpath/$(@F), \
	    -shared -Wl$(comma)-soname$(comma)$(@F)) -o $@ $^ $(ZLIB) $(LIBS)

BESIDE  = -Wl,-rpath,$(if $(filter Darwin,$(SYSTEM)),@loader_path,'$$ORIGIN')/..

$(CORE_TESTS): $(BUILD)/%: $(BUILD)/%.o $(FAKE_BACKEND) $(BUILD)/tests/core.so
$(SIM_TESTS): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/tests/sim.so
$(CORE_TESTS) $(SIM_TESTS):
	$(call say,link,$@)
	$(Q)$(CC) $(BOTH_FLAGS) $(LDFLAGS) -o $@ $(filter-out $(WITHOUT),$^) $(BESIDE) \
	    $(ZLIB) $(LIBS)

# The program's fence around kernels.
$(BUILD)/tests/emulate/t-21-fence: $(BUILD)/repl/sandbox/kernel_fence.o $(FILTER)
$(BUILD)/tests/emulate/t-21-fence: LIBS += $(PROGRAM_FILTER)
$(BUILD)/tests/emulate/t-22-delays: $(BUILD)/repl/sandbox/delays.o

# These have all in them: one is copied elsewhere, the other has files of a page of its own.
$(BUILD)/tests/core/t-20-plugin: $(filter-out %/core/backends.o,$(CORE)) $(TIMELINE)
$(BUILD)/tests/core/t-20-plugin: WITHOUT := $(BUILD)/tests/core.so
$(BUILD)/tests/timeline/t-82-page-files: $(LIBRARY)
$(BUILD)/tests/timeline/t-82-page-files: WITHOUT := $(BUILD)/tests/sim.so $(BUILD)/report_page.o

$(BUILD)/tests/oom/failalloc.so: tests/oom/failalloc.c
	$(call say,link,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -fPIC -shared -o $@ $<

$(PLAIN): $(REPL) $(NO_FILTER) $(BINDINGS) $(LIBRARY)
	$(call say,link,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BOTH_FLAGS) $(LDFLAGS) $(EXPORT_FLAGS) -o $@ $^ $(LUA_LIB) \
	    $(PROGRAM_ZLIB) $(LIBS)

$(TERMINAL) $(CALLS): %.so: %.o
	$(call say,link,$@)
	$(Q)$(CC) $(BOTH_FLAGS) $(LDFLAGS) -shared -o $@ $^ -lpthread
$(TERMINAL:.so=.o) $(CALLS:.so=.o): CPPFLAGS += -I$(LUA_INC)

$(BUILD)/tests/oom/runner: $(BUILD)/tests/oom/kinds.o
$(BUILD)/tests/oom/runner $(BUILD)/tests/bench/timeit: $(BUILD)/%: $(BUILD)/%.o
	$(call say,link,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^
$(BUILD)/tests/oom/runner.o $(BUILD)/tests/bench/timeit.o: CPPFLAGS += -D_DEFAULT_SOURCE
# Its loop in plain C is compiled as kernels are.
$(BUILD)/tests/bench/kernel_speed.o: CFLAGS += -O3 -march=native -ffp-contract=fast
$(BUILD)/tests/bench/kernel_speed: %: %.o $(LIBRARY)
	$(call say,link,$@)
	$(Q)$(CC) $(BOTH_FLAGS) $(LDFLAGS) -o $@ $^ $(ZLIB) $(LIBS) -lpthread

# The plugin's files, with CUDA's libraries played by others; what a test stands in for it
# includes or leaves out.
C := $(BUILD)/core
T := $(BUILD)/tests/cuda
$(T)/%.o: CPPFLAGS += $(CUDA_FLAGS)
$(T)/t-10-memory $(T)/t-11-host-memory $(T)/t-12-plain: %: %.o $(T)/fake_cudart.o \
    $(T)/fake_streams.o $(T)/fake_graphs.o $(PLUGIN_CORE) $(NUMBERS) \
    $(addprefix $(C)/cuda/,cuda_memory.o pool.o devices.o host_memory.o pin.o host_compute.o plain.o)
$(T)/t-20-gemm $(T)/t-24-gemm-tune $(T)/t-25-gemm-candidates: %: %.o $(C)/cuda/library.o $(C)/error.o \
    $(C)/dtype.o $(NUMBERS) | $(T)/fake_cublaslt.so
$(T)/t-21-library: %: %.o $(C)/error.o | $(T)/fake_cublaslt.so
$(T)/t-22-nvrtc: %: %.o $(C)/error.o $(C)/custom/args.o $(addprefix $(C)/cuda/,library.o \
    nvrtc.o nvrtc_headers.o)
$(T)/t-23-nccl-library: %: %.o $(C)/error.o | $(T)/fake_nccl.so $(T)/fake_cupti.so
$(T)/t-30-activity $(T)/t-34-attaching $(T)/t-35-peer-times: %: %.o $(C)/base.o $(C)/error.o $(C)/table.o \
    $(addprefix $(C)/cuda/,cuda_activity.o event_times.o graph_times.o peer_times.o cuda_kernel_names.o library.o) | $(T)/fake_cupti.so
$(T)/t-31-event-times: %: %.o $(C)/base.o $(C)/error.o $(C)/table.o $(addprefix $(C)/cuda/,cuda_activity.o event_times.o \
    graph_times.o peer_times.o cuda_kernel_names.o library.o cupti_attach.o cupti_trace.o trace_buffers.o matching.o)
$(T)/t-32-kernel-names: %: %.o $(C)/table.o $(C)/cuda/cuda_kernel_names.o
$(T)/t-33-matching: %: %.o $(C)/base.o $(C)/cuda/matching.o
# The core and the whole plugin but its kernels, on a driver with threads.
PLAYED := $(filter-out %/core/backends.o %/core/plugin.o,$(CORE)) $(TIMELINE) $(NUMBERS) $(CUDA_C) \
          $(addprefix $(T)/,fake_cudart.o fake_driver.o fake_streams.o fake_graphs.o fake_kernels.o)
$(T)/t-40-lost $(T)/t-41-threads $(T)/t-42-calls $(T)/t-43-opening \
    $(T)/t-45-graphs $(T)/t-46-custom $(T)/t-47-nccl $(T)/t-48-host-threads \
    $(T)/t-49-open-waits: %: %.o $(BUILD)/tests/played.so
$(BUILD)/tests/played.so: $(PLAYED)
$(T)/t-47-nccl: | $(T)/fake_nccl.so
PLAYED_PLUGIN := $(if $(CUDA_LIB),$(T)/played_plugin.so)
$(PLAYED_PLUGIN): $(T)/fake_plugin.o $(CUDA_C) $(PLUGIN_CORE) $(NUMBERS) \
    $(addprefix $(T)/,fake_cudart.o fake_driver.o fake_streams.o fake_graphs.o fake_kernels.o) \
    $(BUILD)/plugin.map
$(PLAYED_PLUGIN): LDFLAGS += -Wl,--version-script=$(BUILD)/plugin.map
# What bench-calls opens instead of CUDA's libraries: the soname ends in the toolkit's number.
PLAYED_LIBRARIES := $(BUILD)/tests/bench/played
CUDA_MAJOR = $(firstword $(sort $(patsubst $(CUDA_LIB)/libcublasLt.so.%,%,$(wildcard $(CUDA_LIB)/libcublasLt.so.*))))
$(PLAYED_LIBRARIES): $(T)/fake_cublaslt.so $(T)/fake_cupti.so
	@mkdir -p $@
	@ln -sf $(abspath $(T)/fake_cublaslt.so) $@/libcublasLt.so.$(CUDA_MAJOR)
	@ln -sf $(abspath $(T)/fake_cupti.so) $@/libcupti.so.$(CUDA_MAJOR)
$(T)/fake_cublaslt.so: $(T)/fake_cublaslt.o $(C)/dtype.o
$(T)/fake_cupti.so: $(T)/fake_cupti.o
$(T)/fake_nccl.so: $(T)/fake_nccl.o
$(T)/%.so:
	$(call say,link,$@)
	$(Q)$(CC) $(BOTH_FLAGS) $(LDFLAGS) -shared -o $@ $(filter %.o,$^) $(LIBS)
$(CUDA_TESTS):
	$(call say,link,$@)
	$(Q)$(CC) $(BOTH_FLAGS) $(LDFLAGS) -o $@ $^ $(BESIDE) -lpthread $(ZLIB) $(LIBS)

# A program that uses CUDA, and its CUPTI, for the recorder.
RECORD_PLAY := $(if $(RECORDER),$(addprefix $(BUILD)/tests/record/,played_program played_launch.so \
                 libcupti.so.13 libcuda.so.1) \
                 $(patsubst %/include/nvtx3/nvToolsExt.h,$(BUILD)/tests/record/played_ranges,\
                 $(firstword $(wildcard $(addsuffix /nvtx3/nvToolsExt.h,$(filter /%,$(CUPTI_INC)))))))
$(BUILD)/tests/record/%.o: CPPFLAGS += $(CUPTI_INC)
$(BUILD)/tests/record/played_program: %: %.o $(addprefix $(BUILD)/tests/record/,played_calls.o \
                                      played_orders.o played_failures.o)
	$(call say,link,$@)
	$(Q)$(CC) $(BOTH_FLAGS) $(LDFLAGS) -o $@ $^ -ldl
# Where NVTX's headers are, too.
$(BUILD)/tests/record/played_ranges: %: %.o $(BUILD)/tests/record/played_launch.o
	$(call say,link,$@)
	$(Q)$(CC) $(BOTH_FLAGS) $(LDFLAGS) -o $@ $^ -lpthread -ldl

$(BUILD)/tests/record/libcupti.so.13: $(BUILD)/tests/record/played_cupti.o
	$(call say,link,$@)
	$(Q)$(CC) $(BOTH_FLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -o $@ $^ -lpthread

$(BUILD)/tests/record/libcuda.so.1: $(BUILD)/tests/record/played_driver.o
	$(call say,link,$@)
	$(Q)$(CC) $(BOTH_FLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -o $@ $^

$(BUILD)/tests/record/played_launch.so: $(BUILD)/tests/record/played_launch.o
	$(call say,link,$@)
	$(Q)$(CC) $(BOTH_FLAGS) $(LDFLAGS) -shared -o $@ $^ -lpthread -ldl

# OpenBLAS on a processor that it does not know.
$(BUILD)/tests/sim/t-14-blas: | $(BUILD)/tests/sim/fake_blas.so
$(BUILD)/tests/sim/fake_blas.so: $(BUILD)/tests/sim/fake_blas.o
	$(call say,link,$@)
	$(Q)$(CC) $(BOTH_FLAGS) $(LDFLAGS) -shared -o $@ $^ $(LIBS)

# These need the real ones, and a GPU.
$(BUILD)/tests/cuda/gemm_check: $(BUILD)/tests/cuda/gemm_check.o $(CUDA) $(PLUGIN_CORE) \
    $(BUILD)/core/dtype.o $(NUMBERS)
$(BUILD)/tests/cuda/kernels_check: $(BUILD)/tests/cuda/kernels_check.cu.o \
    $(filter %.cu.o,$(CUDA)) $(BUILD)/core/cuda/driver.o $(PLUGIN_CORE) $(BUILD)/core/dtype.o $(NUMBERS)
$(GPU_CHECKS):
	$(call say,link,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(CUDA_LIBS) -lstdc++

$(RAW_C) $(BUILD)/tests/bench/cuda/raw_first.o: CPPFLAGS += $(CUDA_FLAGS)
$(RAW_C): CPPFLAGS += -I$(LUA_INC)
$(BUILD)/tests/bench/raw.so: $(RAW_C) $(BUILD)/tests/bench/cuda/raw_kernels.cu.o
	$(call say,link,$@)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,--exclude-libs,ALL -o $@ $^ $(CUBLAS_LIBS) -lnvrtc $(CUDA_LIBS)
$(BUILD)/tests/bench/raw_first: $(BUILD)/tests/bench/cuda/raw_first.o
	$(call say,link,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(CUBLAS_LIBS) $(CUDA_LIBS)

# ---- lanes --------------------------------------------------------------------

SETS_UP += check check-measure check-long check-asan check-tsan check-gc check-races check-growth check-browser check-playground check-oom \
           check-hta check-notebook pictures check-slurm check-torch check-cuda check-memcheck fuzz-api bench bench-calls bench-cuda

## make check          installs what is missing, builds, and runs all tests
check: all $(MAN_PAGES) $(SHARE_FILES) $(CORE_TESTS) $(SIM_TESTS) $(CUDA_TESTS) \
       $(PLAYED_PLUGIN) $(TERMINAL) $(CALLS) $(PLAIN) $(RECORD_PLAY)
	$(Q)$(PROVE) $(TESTS)

## make check-measure  the instruments: calibrate, probe, the benchmark
check-measure: all
	$(Q)STREAMLAB_TEST_TIMEOUT=4 $(PROVE) $(MEASURE_TESTS)

## make check-long     the tests that take longest: attacks on the grader, result tables, sweeps
check-long: all $(filter $(BUILD)/%,$(SIZED_TESTS)) $(TERMINAL) $(CALLS) $(PLAIN) $(RECORD_PLAY)
	$(Q)STREAMLAB_TEST_LONG=1 STREAMLAB_TEST_TIMEOUT=4 $(PROVE) $(LONG_TESTS) \
	    $(filter-out $(LONG_TESTS),$(SIZED_TESTS))

## make check-asan     check and check-measure under address and undefined-behaviour sanitizers
check-asan:
	@+ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 STREAMLAB_TEST_TIMEOUT=4 \
	    $(MAKE) --no-print-directory BUILD=$(BUILD)/asan SANITIZE=address,undefined check check-measure

## make check-tsan     the CUDA backend's threads under the thread sanitizer, with CUDA played
check-tsan:
	@+if [ -n '$(CUDA_LIB)' ]; then STREAMLAB_TEST_TIMEOUT=4 \
	    $(MAKE) --no-print-directory BUILD=$(BUILD)/tsan SANITIZE=thread threads; \
	else echo 'make check-tsan: skipped: its threads are in the CUDA backend, and nvcc is not here'; fi

# The thread sanitizer of older compilers cannot place its memory among random addresses, so
# these are switched off where that is possible.
threads: $(CUDA_TESTS)
	$(Q)steady=$$(setarch -R true 2>/dev/null && echo setarch -R); \
	    $(TEST_ENV) prove -j$(TEST_JOBS) --exec "$$steady tests/run" $(CUDA_TESTS)

## make check-gc       the Lua tests with the collector running all the time
check-gc: all
	$(Q)TAP_GC=stress STREAMLAB_TEST_TIMEOUT=10 $(PROVE) $(LUA_TESTS)

## make check-races    thousands of random programs with known races, under the race checker
check-races: all
	$(Q)STREAMLAB_RACE_PROGRAMS=1000 STREAMLAB_TEST_TIMEOUT=10 $(PROVE) -v \
	    tests/lua/61-random-races.t.lua tests/lua/63-refused-races.t.lua

## make check-growth   that costs grow with the work: groups, graphs, streams, threads, the race checker
check-growth: all
	$(Q)$(BUILD)/streamlab --backend sim tests/growth/growth.lua $(BUILD)

## make check-oom      scripts with allocations of each kind failing
# What one of them has tried the next ones leave out, so that the quickest is the first. The last one
# has races to report.
OOM_SCRIPTS := values graphs summary kernels threads assertions comm script races
check-oom: all $(TOOLS)
	$(Q)set --; for script in $(OOM_SCRIPTS); do \
	    [ $$script != races ] || set -- -r "$$@"; \
	    $(TEST_ENV) $(BUILD)/tests/oom/runner "$$@" $(BUILD)/tests/oom/failalloc.so \
	        $(BUILD)/streamlab tests/oom/$$script.lua || exit; \
	    set -- "$$@" -a tests/oom/$$script.lua; \
	done

## make check-hta      traces compared with Holistic Trace Analysis, which PyPI has
check-hta: all
	$(Q)prove -v --exec sh tests/hta/run :: $(BUILD) $(TRACES)

## make check-browser  the pictures in headless Chromium
BROWSER_TESTS := $(sort $(wildcard tests/browser/*.t.py tests/browser/*.t.sh))
check-browser: all
	$(Q)if sh scripts/setup.sh --browser; then $(PROVE) -j1 $(BROWSER_TESTS); \
	else echo 'make check-browser: skipped: there is no browser'; fi

## make check-playground  the playground in headless Chromium: as a student uses it, and the guide's listings
check-playground: all
	$(Q)$(UNLESS_DRY_RUN)if sh scripts/setup.sh --playground; then $(MAKE) --no-print-directory playground && \
	    STREAMLAB_PLAYGROUND='$(PLAYGROUND)' STREAMLAB_TEST_TIMEOUT=4 \
	    $(PROVE) -j1 $(sort $(wildcard tests/playground/*.t.py)); \
	else echo 'make check-playground: skipped: emscripten or a browser cannot be installed here'; fi

# Debian's Jupyter is of Debian's Python, which need not be the first on the path.
## make check-notebook the kernel for Jupyter, the guide as notebooks, the cell magic
NOTEBOOK_PYTHON ?= $(firstword $(foreach p,python3 /usr/bin/python3,$(shell \
                   $(p) -c 'import ipykernel, nbclient' 2>/dev/null && echo $(p))) python3)
check-notebook: all
	$(Q)sh scripts/setup.sh --notebook || \
	    echo 'make check-notebook: no Jupyter can be installed here, so nothing is tested' >&2
	$(Q)STREAMLAB_PYTHON=$(NOTEBOOK_PYTHON) STREAMLAB_TEST_TIMEOUT=4 $(PROVE) -v -j1 \
	    $(sort $(wildcard tests/notebook/*.t.py))

## make pictures       draws docs/pictures again: the prompt, a notebook (needs Chromium and nbconvert 7)
pictures: all $(TERMINAL)
	$(Q)LUA_PATH='tests/?.lua;;' $(BUILD)/streamlab tests/repl/70-prompt-picture.t.lua write
	$(Q)STREAMLAB=$(BUILD)/streamlab $(NOTEBOOK_PYTHON) tests/notebook/picture.py docs/pictures/notebook.png

## make check-slurm    a sweep on a Slurm of this machine alone, with workers that are killed
check-slurm: all
	$(Q)sh scripts/setup.sh --slurm || \
	    echo 'make check-slurm: no Slurm can be installed here, so only one process is tested' >&2
	$(Q)STREAMLAB_TEST_TIMEOUT=10 $(PROVE) -v -j1 tests/slurm/sweep.t.sh

## make check-bare     the README's two commands, the rock and an install, on a bare Debian
check-bare:
	$(Q)prove -v --exec sh tests/bare/run :: $(BARE_SUITES)

## make check-packages the .deb and the wheel, each on a bare Debian
check-packages: wheel deb
	$(Q)prove -v --exec sh tests/bare/packages :: $(DIST) $(BARE_SUITES)

## make check-release  that two releases are the same bytes, and the four files on a bare Debian
check-release:
	$(Q)CC='$(CC)' NVCC='$(NVCC)' prove -v --exec sh tests/bare/release :: $(BUILD)/release
	$(Q)prove -v --exec sh tests/bare/packages :: $(BUILD)/release/1 $(BARE_SUITES)

## make check-torch    small programs in PyTorch and here, which must show the same or what is stated
check-torch: all
	$(Q)$(BUILD)/streamlab --backend sim tests/torch/run.lua compare

# One at a time: they share the GPU.
## make check-cuda     what both backends must do, on the GPU
check-cuda: all $(TERMINAL) $(if $(PLUGIN),$(GPU_CHECKS),need-nvcc)
	$(Q)$(BUILD)/streamlab --backend cuda -e '' || \
	    echo 'make check-cuda: nothing can be checked on a GPU here; what needs one is skipped'
	$(Q)STREAMLAB_TEST_BACKEND=cuda $(PROVE) -j1 $(GPU_TESTS)

# Without the tests of devices that fail. compute-sanitizer takes CUPTI's place, so that events
# take the times, and slows everything down.
## make check-memcheck the same under compute-sanitizer
MEMCHECK_TESTS := $(filter-out %/00-plugin.t.sh %/fault.t.lua %/46-gpu.t.lua,$(GPU_TESTS))
check-memcheck: all $(TERMINAL) $(if $(PLUGIN),$(GPU_CHECKS),need-nvcc)
	@command -v compute-sanitizer >/dev/null || \
	    { echo 'check-memcheck needs compute-sanitizer of the CUDA toolkit on the path' >&2; exit 1; }
	$(Q)STREAMLAB_TEST_BACKEND=cuda STREAMLAB_MEMCHECK=1 STREAMLAB_SLACK_US=100 \
	    STREAMLAB_TEST_TIMEOUT=5 $(PROVE) -j1 $(MEMCHECK_TESTS)

need-nvcc:
	$(error this needs nvcc and its libraries: give NVCC=/path/to/nvcc)

# libFuzzer changes the bytes of the files in tests/fuzz/corpus.
FUZZ_FLAGS := -std=c11 -g -O1 $(WARNINGS) -fno-sanitize-recover=all -fno-omit-frame-pointer \
              -fsanitize=fuzzer,address,undefined
FUZZERS    := $(BUILD)/fuzz/kineto $(BUILD)/fuzz/spool $(BUILD)/fuzz/nsys
$(FUZZERS): $(BUILD)/fuzz/%: tests/fuzz/fuzz_%.c tests/fuzz/exercise.h core/base.c core/error.c \
    core/interrupt.c core/dtype.c core/comm/collective_names.c $(BUILD)/report_page.c \
    core/record/spool_pack.c core/streamlab.h core/record/spool.h core/record/spool_pack.h \
    $(wildcard $(TIMELINE_ROOMS:%=%/*.c) $(TIMELINE_ROOMS:%=%/*.h))
	$(call say,fuzzer,$@)
	@mkdir -p $(BUILD)/fuzz/corpus $(BUILD)/fuzz/spools $(BUILD)/fuzz/reports
	$(Q)$(FUZZ_CC) $(CPPFLAGS) $(HAS_VERSION) -I. $(FUZZ_FLAGS) -o $@ $(filter %.c,$^) $(ZLIB) -lm -ldl

## make fuzz           the readers of traces, spools and reports under libFuzzer, FUZZ_SECONDS=600 each
fuzz: $(FUZZERS)
	$(Q)$(BUILD)/fuzz/spool -max_total_time=$(FUZZ_SECONDS) -max_len=8192 -timeout=10 \
	    -print_final_stats=1 -artifact_prefix=$(BUILD)/fuzz/ $(BUILD)/fuzz/spools tests/fuzz/spools
	$(Q)$(BUILD)/fuzz/nsys -max_total_time=$(FUZZ_SECONDS) -max_len=32768 -timeout=10 \
	    -print_final_stats=1 -artifact_prefix=$(BUILD)/fuzz/ $(BUILD)/fuzz/reports tests/fuzz/reports
	$(Q)$(BUILD)/fuzz/kineto -max_total_time=$(FUZZ_SECONDS) -max_len=5120 -timeout=10 -print_final_stats=1 \
	    -dict=tests/fuzz/kineto.dict -artifact_prefix=$(BUILD)/fuzz/ $(BUILD)/fuzz/corpus \
	    tests/fuzz/corpus

# Random programs of calls, with the sanitizers in the program and in Lua, whose own checks of
# its C interface are on as well.
FUZZ_API  := $(BUILD)/fuzz/api
FUZZ_LUA  := $(BUILD)/fuzz/lua
$(FUZZ_LUA)/src/lapi.c:
	@sh tests/fuzz/lua_source.sh $(FUZZ_LUA)
$(FUZZ_LUA)/liblua.a: $(FUZZ_LUA)/src/lapi.c
	$(call say,lua,$@)
	$(Q)cd $(FUZZ_LUA) && $(CC) -std=gnu99 -g -O1 -DLUA_USE_LINUX -DLUA_USE_APICHECK -DLUAI_ASSERT -fPIC \
	    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
	    -c $$(ls src/*.c | grep -v 'src/luac*\.c$$') && ar rcs liblua.a *.o

## make fuzz-api       random programs of calls, from FUZZ_SEED=1 on, with Lua sanitized as well
fuzz-api: $(FUZZ_LUA)/liblua.a
	@+$(MAKE) --no-print-directory BUILD=$(FUZZ_API) SANITIZE=address,undefined NVCC= \
	    LUA_INCLUDE=$(FUZZ_LUA)/src LUA_LIBRARY=$(FUZZ_LUA)/liblua.a $(FUZZ_API)/streamlab
	$(Q)sh tests/fuzz/run_api $(FUZZ_API) $(FUZZ_SECONDS) $(FUZZ_SEED)

## make bench          the figures of the simulated GPU, compared with their limits
bench: all $(TOOLS)
	$(Q)$(BUILD)/streamlab tests/bench/bench.lua $(BUILD)

## make bench-calls    the instructions that a call takes, compared with docs/results/calls.md
bench-calls: all $(if $(PLAYED_PLUGIN),$(PLAYED_PLUGIN) $(PLAYED_LIBRARIES))
	$(Q)CC='$(CC)' $(BUILD)/streamlab tests/bench/instructions.lua $(BENCH_ARGS) $(BUILD)

## make bench-cuda     the CUDA backend beside plain CUDA C and PyTorch, on the GPU
bench-cuda: all $(if $(PLUGIN),$(RAW),need-nvcc) $(BUILD)/tests/bench/timeit
	$(Q)$(BUILD)/streamlab tests/bench/cuda/bench.lua $(BENCH_ARGS) $(BUILD)

## make lint           luacheck over all Lua, shellcheck over all shell scripts, form of all C
lint:
	@sh scripts/lint.sh

## make format         formats all C and CUDA in place, with clang-format
format:
	@sh scripts/lint.sh --format

.PHONY: lint format check check-measure check-long check-asan check-tsan threads check-gc check-races \
        check-growth check-oom check-hta check-browser check-playground check-notebook check-slurm check-bare check-packages check-release \
        check-torch check-cuda check-memcheck need-nvcc pictures fuzz fuzz-api bench bench-calls bench-cuda
