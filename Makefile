# streamlab: build, tests and benchmarks. `make help` lists the targets.
# Everything that is made lies in build/. V=1 shows the commands.

# Where make install puts things. DESTDIR stands in front of all of them.
PREFIX   ?= /usr/local
BINDIR   ?= $(PREFIX)/bin
LIBDIR   ?= $(PREFIX)/lib
DATADIR  ?= $(PREFIX)/share
MANDIR   ?= $(DATADIR)/man
LUA_CMOD ?= $(LIBDIR)/lua/5.4

# None of make's own rules: nothing here needs them.
MAKEFLAGS += --no-builtin-rules

# ---- settings -------------------------------------------------------------

VERSION  := 0.1.0

CC       ?= cc
CFLAGS   ?= -O2 -g
LDFLAGS  ?=
BUILD    ?= build
# Given to scripts/setup.sh, which finds them when they are empty: the folder of
# Lua 5.4's lua.h, the static library, the interpreter.
LUA_INCLUDE ?=
LUA_LIBRARY ?=
LUA         ?=
# For the compiler's -fsanitize=; set by check-asan.
SANITIZE ?=
# CUDA's compiler; the CUDA backend is built where there is one. NVCC= builds without.
NVCC     ?= $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
# LIBEDIT=0 builds without a line editor, as does the want of libedit's header.
LIBEDIT  ?= 1
# The same of MINIZIP, which `streamlab lab pack` writes its files with.
MINIZIP  ?= 1
# How many test files run at a time, and how many files are compiled where make has no -j.
TEST_JOBS ?= 2
JOBS      ?= $(or $(shell getconf _NPROCESSORS_ONLN 2>/dev/null),2)
# The releases of Debian that make check-bare makes.
BARE_SUITES ?= bookworm trixie
# Files from elsewhere for make check-hta, in place of traces of its own.
TRACES ?=
# For make fuzz: a clang with libFuzzer, and for how long it and fuzz-api run.
FUZZ_CC      ?= $(firstword $(shell for cc in clang clang-19 clang-18 clang-17 clang-16 clang-15 \
                clang-14; do command -v $$cc; done) clang)
FUZZ_SECONDS ?= 600
# For make bench-cuda: -o FILE, --only SECTIONS.
BENCH_ARGS ?=

# ---- flags ----------------------------------------------------------------

FIND_LUA := $(shell LUA_INCLUDE='$(LUA_INCLUDE)' LUA_LIBRARY='$(LUA_LIBRARY)' LUA='$(LUA)' \
              sh scripts/setup.sh --find-lua)
LUA_INC  := $(filter-out -,$(word 1,$(FIND_LUA)))
LUA_LIB  := $(filter-out -,$(word 2,$(FIND_LUA)))
LUA_PROG := $(filter-out -,$(word 3,$(FIND_LUA)))

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ALL_CFLAGS = -std=c11 $(CFLAGS) $(WARNINGS) -ffp-contract=off -fPIC \
             -fno-semantic-interposition -MMD -MP $(SANITIZE_FLAGS)
CPPFLAGS += -D_POSIX_C_SOURCE=200809L -DSTREAMLAB_VERSION='"$(VERSION)"'
LIBS     := -lm
ifneq ($(SANITIZE),)
SANITIZE_FLAGS := -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
ifeq ($(shell uname),Darwin)
EXPORT_FLAGS := -Wl,-export_dynamic
MODULE_FLAGS := -bundle -undefined dynamic_lookup -Wl,-exported_symbol,_luaopen_streamlab
else
EXPORT_FLAGS := -Wl,-E
MODULE_FLAGS := -shared -Wl,--version-script=$(BUILD)/module.map
LIBS         += -ldl
HIDE_ZLIB    := -Wl,--exclude-libs,libz.a
HIDE_ZIP     := -Wl,--exclude-libs,libminizip.a
endif

# For compressed traces. The program takes the static library where there is one, so that it
# can be copied to a machine without, and keeps its names to itself: another library that it
# loads may bring its own.
ZLIB         := -lz
ZLIB_ARCHIVE := $(filter /%,$(shell $(CC) -print-file-name=libz.a))
PROGRAM_ZLIB := $(if $(ZLIB_ARCHIVE),$(ZLIB_ARCHIVE) $(HIDE_ZLIB),$(ZLIB))

HASH         := \#
has_header   = $(shell echo '$(HASH)include <$(1)>' | \
                 $(CC) $(CPPFLAGS) -fsyntax-only -xc - 2>/dev/null && echo yes)

# The line editor. libedit's static library needs others, and is taken where all are there:
# for the same reasons.
LINE_EDITOR  := $(if $(filter-out 0,$(LIBEDIT)),$(if $(call has_header,histedit.h),libedit))
EDIT_ARCHIVE := $(filter /%,$(foreach l,edit bsd md tinfo,\
                  $(shell $(CC) -print-file-name=lib$(l).a)))
HIDE_EDIT    := -Wl,--exclude-libs,libedit.a:libbsd.a:libmd.a:libtinfo.a
STATIC_EDIT  := $(if $(word 4,$(EDIT_ARCHIVE)),$(EDIT_ARCHIVE) $(HIDE_EDIT))
PROGRAM_EDIT := $(if $(LINE_EDITOR),$(or $(STATIC_EDIT),-ledit))

# minizip, for .zip files. Its static library needs zlib's, which comes behind it.
ZIP_WRITER   := $(if $(filter-out 0,$(MINIZIP)),$(if $(call has_header,minizip/zip.h),minizip))
ZIP_ARCHIVE  := $(filter /%,$(shell $(CC) -print-file-name=libminizip.a))
PROGRAM_ZIP  := $(if $(ZIP_WRITER),$(if $(ZIP_ARCHIVE),$(ZIP_ARCHIVE) $(HIDE_ZIP),-lminizip))

# The plugin: code for GPUs that this nvcc knows; PTX of the lowest architecture, which the
# driver can compile for all others from there on, and of a later one, which is faster on
# GPUs that come after. Code for 8.7 is Jetson's: it runs no code for desktop GPUs. A sanitized
# program does without it: two run-time systems that both map the address space do not get along.
ifneq ($(NVCC),)
CUDA_HOME   := $(patsubst %/bin/nvcc,%,$(realpath $(shell command -v $(NVCC))))
CUDA_LIB    := $(firstword $(foreach d,$(CUDA_HOME)/lib64 $(CUDA_HOME)/lib \
                 $(CUDA_HOME)/targets/x86_64-linux/lib $(CUDA_HOME)/targets/sbsa-linux/lib,\
                 $(if $(wildcard $(d)/libcudart_static.a),$(d))))
CUDA_LACKS  := $(if $(shell command -v $(NVCC)),,$(NVCC)) \
               $(if $(CUDA_LIB),,libcudart_static.a) \
               $(foreach h,cublasLt.h nvtx3/nvToolsExt.h,\
                 $(if $(wildcard $(CUDA_HOME)/include/$(h)),,$(h))) \
               $(if $(shell command -v g++ c++ clang++),,g++)
ifneq ($(strip $(CUDA_LACKS)),)
$(warning no CUDA backend in this build: nvcc needs $(strip $(CUDA_LACKS)), which is not here \
  (NVCC= builds without it, NVCC=/path/bin/nvcc names another))
CUDA_LIB    :=
endif
endif
ifneq ($(CUDA_LIB),)
CUDA_ARCHES := $(filter $(patsubst sm_%,%,$(shell $(NVCC) --list-gpu-code)),\
                 70 75 80 86 87 89 90 100 120)
CUDA_PTX    := $(firstword $(CUDA_ARCHES)) 90
CUDA_CODE   := $(foreach a,$(CUDA_ARCHES),-gencode arch=compute_$(a),code=sm_$(a)) \
               $(foreach a,$(CUDA_PTX),-gencode arch=compute_$(a),code=compute_$(a))
CUDA_FLAGS  := -isystem $(CUDA_HOME)/include -isystem $(CUDA_HOME)/extras/CUPTI/include \
               -DSTREAMLAB_CUDA_LIB='"$(CUDA_LIB)"' \
               -DSTREAMLAB_CUDA_CODE='"$(CUDA_ARCHES:%=sm_%)"' \
               -DSTREAMLAB_CUDA_PTX='"compute_$(firstword $(CUDA_PTX))"'
# No C++ run-time: what nvcc writes for the host needs none then.
NVCC_FLAGS  := -Xcompiler -fPIC,-Wall,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics
CUBLAS_LIBS := -L$(CUDA_LIB) -Wl,-rpath,$(CUDA_LIB) -lcublas -lcublasLt
CUDA_LIBS   := $(CUDA_LIB)/libcudart_static.a -lpthread -ldl -lrt -lm
endif
PLUGIN := $(if $(CUDA_LIB),$(if $(SANITIZE),,$(BUILD)/streamlab_cuda.so))

ifeq ($(V),)
Q := @
say = @printf '  %-6s %s\n' '$(1)' '$(2)'
endif

# ---- files ----------------------------------------------------------------

objects = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(1)))

CORE     := $(call objects,core/*.c core/race/*.c)
TIMELINE_ROOMS := core/text core/timeline core/traces core/pictures
TIMELINE := $(call objects,$(TIMELINE_ROOMS:%=%/*.c)) $(BUILD)/report_page.o
SIM      := $(call objects,core/sim/*.c)
BINDINGS := $(call objects,bindings/*.c) $(BUILD)/embedded.o
# One of the two line editors is linked.
NO_EDITOR := $(BUILD)/repl/editor/lineedit_none.o
EDITORS  := $(call objects,repl/editor/lineedit*.c)
# The same of the two that write .zip files.
NO_ZIP   := $(BUILD)/repl/commands/zip_none.o
ZIPS     := $(call objects,repl/commands/zip*.c)
REPL     := $(filter-out $(EDITORS) $(ZIPS),$(call objects,repl/*.c repl/*/*.c)) \
            $(BUILD)/program_files.o
EDIT     := $(if $(LINE_EDITOR),$(filter-out $(NO_EDITOR),$(EDITORS)),$(NO_EDITOR))
ZIP      := $(if $(ZIP_WRITER),$(filter-out $(NO_ZIP),$(ZIPS)),$(NO_ZIP))
NUMBERS  := $(call objects,core/numbers/*.c)
LIBRARY  := $(CORE) $(TIMELINE) $(NUMBERS) $(SIM)
CUDA_C   := $(call objects,core/cuda/*.c)
# What the plugin has of the core.
PLUGIN_CORE := $(BUILD)/core/error.o $(BUILD)/core/host_limits.o
CUDA     := $(CUDA_C) $(patsubst %.cu,$(BUILD)/%.cu.o,$(wildcard core/cuda/*.cu))

EMBEDDED := $(sort $(wildcard bindings/*.lua bindings/words/*.lua scripts/profiles/*.lua)) \
            docs/api/elsewhere.lua
# What the .html report is made of.
PAGE     := $(sort $(wildcard core/pictures/report/*))
# The program's own Lua: subcommands, the console, course labs, and what help says. And what
# `lab new` and `lab pack` write as it is.
CONSOLE_ROOMS   := completion dot_commands help values
TEMPLATE        := repl/labs/template
TEXT_FOLDERS    := repl/labs/autograder $(TEMPLATE) $(TEMPLATE)/tests $(TEMPLATE)/right \
                   $(TEMPLATE)/wrong
PROGRAM_FOLDERS := docs/api repl/run repl/run/errors repl/commands repl/calibrate \
                   repl/calibrate/parts repl/calibrate/probe repl/compare repl/console \
                   $(CONSOLE_ROOMS:%=repl/console/%) repl/labs repl/labs/results $(TEXT_FOLDERS)
PROGRAM_FILES   := $(sort $(wildcard $(PROGRAM_FOLDERS:%=%/*.lua) $(TEXT_FOLDERS:%=%/*.sh) \
                     $(TEXT_FOLDERS:%=%/*.md)))

# What docs/api is the source of: the man pages and what editors read, in build/, and the
# pages of docs/reference, which are in git.
GENERATE := docs/generate/main.lua
GENERATED_FROM := $(wildcard docs/generate/*.lua docs/api/*.lua) $(BUILD)/streamlab
MAN_PAGES   := $(BUILD)/man/streamlab.1 $(BUILD)/man/streamlab-lua.3
EDITOR_FILE := $(BUILD)/share/streamlab.d.lua

# tests/core brings a backend of its own; the others use the simulated GPU.
CORE_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/core/t-*.c))
SIM_TESTS  := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/sim/t-*.c tests/timeline/t-*.c))
# The plugin's files against CUDA's libraries played by others (tests/cuda/fake_*.c).
CUDA_TESTS := $(if $(CUDA_LIB),$(patsubst %.c,$(BUILD)/%,$(wildcard tests/cuda/t-*.c)))
# What both backends must do.
BOTH_TESTS := $(sort $(wildcard tests/both/*.t.lua))
LUA_TESTS  := $(sort $(wildcard tests/lua/*.t.lua))
ALL_TESTS  := $(wildcard tests/*.t) $(sort $(wildcard tests/labs/*.t.lua tests/labs/*.t.sh)) \
              $(CORE_TESTS) $(SIM_TESTS) $(CUDA_TESTS) $(BOTH_TESTS) \
              $(LUA_TESTS) $(sort $(wildcard tests/repl/*.t.lua tests/repl/*.t.sh)) \
              $(sort $(wildcard tests/torch/*.t.lua)) \
              $(sort $(wildcard tests/cuda/*.t.sh))
# Slow, and rarely the first to fail: these have a lane of their own, check-long.
LONG_TESTS := tests/labs/20-attacks.t.lua tests/repl/75-fidelity.t.lua tests/repl/79-results.t.lua
TESTS      := $(filter-out $(LONG_TESTS),$(ALL_TESTS))
# On a GPU: the plugin's kernels and plans by themselves, then the suite.
GPU_CHECKS := $(BUILD)/tests/cuda/kernels_check $(BUILD)/tests/cuda/gemm_check
GPU_TESTS  := tests/cuda/00-plugin.t.sh $(GPU_CHECKS) $(BOTH_TESTS) \
              $(patsubst %,tests/lua/20-api-%.t.lua,fields kernels tensors views streams cuda) \
              tests/repl/46-gpu.t.lua tests/repl/53-values-gpu.t.lua
# The plain CUDA C beside which bench-cuda measures.
RAW_C      := $(patsubst %,$(BUILD)/tests/bench/cuda/%.o,raw raw_enqueue raw_puzzler raw_pipeline)
RAW        := $(BUILD)/tests/bench/raw.so $(BUILD)/tests/bench/raw_first
# What the tests of the REPL type at (tests/repl/session.lua).
TERMINAL   := $(BUILD)/tests/repl/terminal.so
# What 57-children and 58-confine try.
CALLS      := $(BUILD)/tests/repl/calls.so
PLAIN      := $(BUILD)/tests/repl/streamlab-plain
TOOLS      := $(BUILD)/tests/oom/failalloc.so $(BUILD)/tests/oom/runner \
              $(BUILD)/tests/bench/timeit

TEST_ENV = STREAMLAB='$(abspath $(BUILD)/streamlab)' \
           STREAMLAB_SO='$(abspath $(BUILD)/streamlab.so)' STREAMLAB_LUA='$(LUA_PROG)' \
           STREAMLAB_SANITIZE='$(SANITIZE)' STREAMLAB_EDITOR='$(LINE_EDITOR)' \
           STREAMLAB_ZIP='$(ZIP_WRITER)'
PROVE    = $(TEST_ENV) prove -j$(TEST_JOBS) --exec tests/run

# ---- products -------------------------------------------------------------

# A plugin of an earlier build with nvcc does not stay beside one without.
all: $(BUILD)/streamlab $(BUILD)/streamlab.so $(PLUGIN)
	$(if $(PLUGIN),@:,@rm -f $(BUILD)/streamlab_cuda.so)

# A file says which line editor and which writer of .zip files the program was linked with;
# when that changes, it is linked anew.
LINKED := $(BUILD)/linked.$(or $(LINE_EDITOR),none).$(or $(ZIP_WRITER),none)
$(BUILD)/streamlab: $(REPL) $(EDIT) $(ZIP) $(BINDINGS) $(LIBRARY) \
                    $(if $(wildcard $(LINKED)),,relink)
	$(call say,link,$@)
	$(Q)$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) $(EXPORT_FLAGS) -o $@ $(filter %.o,$^) $(LUA_LIB) \
	    $(PROGRAM_ZIP) $(PROGRAM_ZLIB) $(PROGRAM_EDIT) $(LIBS)
	@rm -f $(BUILD)/linked.* && touch $(LINKED)

$(BUILD)/streamlab.so: $(BINDINGS) $(LIBRARY) $(BUILD)/module.map
	$(call say,link,$@)
	$(Q)$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) $(MODULE_FLAGS) -o $@ $(filter %.o,$^) \
	    $(ZLIB) $(LIBS)

# What the module and the plugin export.
$(BUILD)/module.map $(BUILD)/plugin.map:
	@mkdir -p $(@D)
	@echo '{ global: $(if $(filter %plugin.map,$@),sl_backend_entry,luaopen_streamlab); local: *; };' > $@

# Nothing else links CUDA's libraries, and the plugin only the static run-time; the
# others are opened when they are first needed.
$(BUILD)/streamlab_cuda.so: $(CUDA) $(PLUGIN_CORE) $(NUMBERS) $(BUILD)/plugin.map
	$(call say,link,$@)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,--version-script=$(BUILD)/plugin.map -Wl,--no-undefined \
	    -Wl,--exclude-libs,ALL -o $@ $(filter %.o,$^) $(CUDA_LIBS)

$(CUDA_C): CPPFLAGS += $(CUDA_FLAGS)

$(BUILD)/%.cu.o: %.cu
	$(call say,nvcc,$<)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -O3 -std=c++17 $(CUDA_CODE) $(NVCC_FLAGS) -t 0 -MMD -MP -MF $(@:.o=.d) \
	    -c -o $@ $<

$(BUILD)/%.o: %.c
	$(call say,cc,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(REPL) $(EDITORS) $(ZIPS) $(BINDINGS): CPPFLAGS += -I$(LUA_INC)
$(REPL) $(EDITORS) $(ZIPS) $(BINDINGS): | need-lua-headers
$(BUILD)/streamlab: | need-lua

need-lua-headers:
	$(if $(LUA_INC),@:,$(error Lua 5.4's headers are missing (lua.h): run 'sh scripts/setup.sh', \
	or give LUA_INCLUDE=folder))
need-lua:
	$(if $(and $(LUA_INC),$(LUA_LIB)),@:,$(error Lua 5.4 is missing (lua.h and the static \
	library): run 'sh scripts/setup.sh', or give LUA_INCLUDE=folder and LUA_LIBRARY=file))

$(TIMELINE): | $(BUILD)/zlib
$(BUILD)/zlib:
	@mkdir -p $(@D)
	@echo '#include <zlib.h>' | $(CC) $(CPPFLAGS) -fsyntax-only -xc - \
	    || { echo 'zlib is missing (zlib.h): run sh scripts/setup.sh' >&2; exit 1; }
	@touch $@

$(BUILD)/embedded.c: scripts/embed.sh $(EMBEDDED) bindings bindings/words scripts/profiles
	$(call say,embed,$@)
	@mkdir -p $(@D)
	$(Q)sh scripts/embed.sh bindings/embedded.h lsl_embedded lsl_embedded_files \
	    $(EMBEDDED) > $@.new && mv $@.new $@

$(BUILD)/report_page.c: scripts/embed.sh $(PAGE) core/pictures/report
	$(call say,embed,$@)
	@mkdir -p $(@D)
	$(Q)sh scripts/embed.sh core/pictures/report_page.h sl__page_file sl__page_files \
	    $(PAGE) > $@.new && mv $@.new $@

$(BUILD)/program_files.c: scripts/embed.sh $(PROGRAM_FILES) $(PROGRAM_FOLDERS)
	$(call say,embed,$@)
	@mkdir -p $(@D)
	$(Q)sh scripts/embed.sh repl/run/embedded.h embedded_file embedded_files \
	    $(PROGRAM_FILES) > $@.new && mv $@.new $@

$(BUILD)/embedded.o $(BUILD)/report_page.o $(BUILD)/program_files.o: %.o: %.c
	$(Q)$(CC) $(CPPFLAGS) -I. $(ALL_CFLAGS) -c -o $@ $<

# ---- tests ----------------------------------------------------------------

$(CORE_TESTS): $(BUILD)/%: $(BUILD)/%.o $(filter-out %/core/backends.o,$(CORE)) $(TIMELINE)
	$(call say,link,$@)
	$(Q)$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(ZLIB) $(LIBS)

$(SIM_TESTS): $(BUILD)/%: $(BUILD)/%.o $(LIBRARY)
	$(call say,link,$@)
	$(Q)$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(ZLIB) $(LIBS)

$(BUILD)/tests/oom/failalloc.so: tests/oom/failalloc.c
	$(call say,link,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -fPIC -shared -o $@ $<

# The program as it is without libedit and minizip.
$(PLAIN): $(REPL) $(NO_EDITOR) $(NO_ZIP) $(BINDINGS) $(LIBRARY)
	$(call say,link,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) $(EXPORT_FLAGS) -o $@ $^ $(LUA_LIB) \
	    $(PROGRAM_ZLIB) $(LIBS)

$(TERMINAL) $(CALLS): %.so: %.o
	$(call say,link,$@)
	$(Q)$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -shared -o $@ $^ -lpthread
$(TERMINAL:.so=.o) $(CALLS:.so=.o): CPPFLAGS += -I$(LUA_INC)

$(BUILD)/tests/oom/runner $(BUILD)/tests/bench/timeit: $(BUILD)/%: $(BUILD)/%.o
	$(call say,link,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^
$(BUILD)/tests/oom/runner.o $(BUILD)/tests/bench/timeit.o: CPPFLAGS += -D_DEFAULT_SOURCE

# The plugin's files, with CUDA's libraries played by others; what a test stands in for it
# includes or leaves out.
C := $(BUILD)/core
T := $(BUILD)/tests/cuda
$(T)/%.o: CPPFLAGS += $(CUDA_FLAGS)
$(T)/t-10-memory $(T)/t-11-host-memory $(T)/t-12-plain: %: %.o $(T)/fake_cudart.o \
    $(T)/fake_streams.o $(PLUGIN_CORE) $(NUMBERS) \
    $(addprefix $(C)/cuda/,memory.o pool.o host_memory.o host_compute.o plain.o)
$(T)/t-20-gemm: %: %.o $(C)/cuda/library.o $(C)/error.o $(C)/dtype.o | $(T)/fake_cublaslt.so
$(T)/t-21-library: %: %.o $(C)/error.o | $(T)/fake_cublaslt.so
$(T)/t-30-activity: %: %.o $(C)/error.o $(addprefix $(C)/cuda/,activity.o event_times.o \
    kernel_names.o library.o) | $(T)/fake_cupti.so
$(T)/t-31-event-times: %: %.o $(C)/error.o $(addprefix $(C)/cuda/,activity.o event_times.o \
    kernel_names.o library.o cupti_trace.o matching.o)
$(T)/t-32-kernel-names: %: %.o $(C)/cuda/kernel_names.o
# The core and the whole plugin but its kernels, on a driver with threads.
PLAYED := $(filter-out %/core/backends.o %/core/plugin.o,$(CORE)) $(TIMELINE) $(NUMBERS) $(CUDA_C) \
          $(addprefix $(T)/,fake_cudart.o fake_streams.o fake_kernels.o)
$(T)/t-40-lost $(T)/t-41-threads $(T)/t-42-calls $(T)/t-43-opening: %: %.o $(PLAYED)
PLAYED_PLUGIN := $(if $(CUDA_LIB),$(T)/played_plugin.so)
$(PLAYED_PLUGIN): $(T)/fake_plugin.o $(CUDA_C) $(PLUGIN_CORE) $(NUMBERS) \
    $(addprefix $(T)/,fake_cudart.o fake_streams.o fake_kernels.o) $(BUILD)/plugin.map
$(PLAYED_PLUGIN): LDFLAGS += -Wl,--version-script=$(BUILD)/plugin.map
$(T)/fake_cublaslt.so: $(T)/fake_cublaslt.o $(C)/dtype.o
$(T)/fake_cupti.so: $(T)/fake_cupti.o
$(T)/%.so:
	$(call say,link,$@)
	$(Q)$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -shared -o $@ $(filter %.o,$^) $(LIBS)
$(CUDA_TESTS):
	$(call say,link,$@)
	$(Q)$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ -lpthread $(ZLIB) $(LIBS)

# Under the thread sanitizer. That of older compilers cannot place its memory among random
# addresses, so these are switched off where that is possible.
STEADY   := $(shell setarch -R true 2>/dev/null && echo setarch -R)
tsan-now: $(CUDA_TESTS)
	$(Q)$(TEST_ENV) prove -j$(TEST_JOBS) --exec '$(STEADY) tests/run' $(CUDA_TESTS)

# These need the real ones, and a GPU.
$(BUILD)/tests/cuda/gemm_check: $(BUILD)/tests/cuda/gemm_check.o \
    $(filter-out %/core/cuda/gemm.o,$(CUDA)) $(PLUGIN_CORE) $(BUILD)/core/dtype.o $(NUMBERS)
$(BUILD)/tests/cuda/kernels_check: $(BUILD)/tests/cuda/kernels_check.cu.o \
    $(filter %.cu.o,$(CUDA)) $(PLUGIN_CORE) $(BUILD)/core/dtype.o $(NUMBERS)
$(GPU_CHECKS):
	$(call say,link,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(CUDA_LIBS) -lstdc++

$(RAW_C) $(BUILD)/tests/bench/cuda/raw_first.o: CPPFLAGS += $(CUDA_FLAGS)
$(RAW_C): CPPFLAGS += -I$(LUA_INC)
$(BUILD)/tests/bench/raw.so: $(RAW_C) $(BUILD)/tests/bench/cuda/raw_kernels.cu.o
	$(call say,link,$@)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,--exclude-libs,ALL -o $@ $^ $(CUBLAS_LIBS) $(CUDA_LIBS)
$(BUILD)/tests/bench/raw_first: $(BUILD)/tests/bench/cuda/raw_first.o
	$(call say,link,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(CUBLAS_LIBS) $(CUDA_LIBS)

check-now: all $(MAN_PAGES) $(EDITOR_FILE) $(CORE_TESTS) $(SIM_TESTS) $(CUDA_TESTS) \
           $(PLAYED_PLUGIN) $(TERMINAL) $(CALLS) $(PLAIN)
	$(Q)$(PROVE) $(TESTS)

long-now: all
	$(Q)$(PROVE) $(LONG_TESTS)

# One at a time: they share the GPU.
cuda-now: all $(TERMINAL) $(if $(PLUGIN),$(GPU_CHECKS),need-nvcc)
	$(Q)$(BUILD)/streamlab --backend cuda -e '' || \
	    echo 'make check-cuda: nothing can be checked on a GPU here; what needs one is skipped'
	$(Q)STREAMLAB_TEST_BACKEND=cuda $(PROVE) -j1 $(GPU_TESTS)

# The same under compute-sanitizer, but for the tests of devices that fail. It takes CUPTI's
# place, so that events take the times, and slows everything down.
MEMCHECK_TESTS := $(filter-out %/00-plugin.t.sh %/fault.t.lua %/46-gpu.t.lua,$(GPU_TESTS))
memcheck-now: all $(TERMINAL) $(if $(PLUGIN),$(GPU_CHECKS),need-nvcc)
	@command -v compute-sanitizer >/dev/null || \
	    { echo 'check-memcheck needs compute-sanitizer of the CUDA toolkit on the path' >&2; exit 1; }
	$(Q)STREAMLAB_TEST_BACKEND=cuda STREAMLAB_MEMCHECK=1 STREAMLAB_SLACK_US=100 \
	    STREAMLAB_TEST_TIMEOUT=5 $(PROVE) -j1 $(MEMCHECK_TESTS)

bench-cuda-now: all $(if $(PLUGIN),$(RAW),need-nvcc) $(BUILD)/tests/bench/timeit
	$(Q)$(BUILD)/streamlab tests/bench/cuda/bench.lua $(BENCH_ARGS) $(BUILD)

need-nvcc:
	$(error this needs nvcc and its libraries: give NVCC=/path/to/nvcc)

gc-now: all
	$(Q)TAP_GC=stress STREAMLAB_TEST_TIMEOUT=10 $(PROVE) $(LUA_TESTS)

# More random programs for the race checker than check takes time for.
races-now: all
	$(Q)STREAMLAB_RACE_PROGRAMS=1000 STREAMLAB_TEST_TIMEOUT=10 $(PROVE) -v \
	    tests/lua/61-random-races.t.lua tests/lua/63-refused-races.t.lua

# What the pictures look like in a browser.
browser-now: all
	$(Q)$(PROVE) -j1 $(sort $(wildcard tests/browser/*.t.py tests/browser/*.t.sh))

oom-now: all $(TOOLS)
	$(Q)$(TEST_ENV) $(BUILD)/tests/oom/runner $(BUILD)/tests/oom/failalloc.so \
	    $(BUILD)/streamlab tests/oom/script.lua
	$(Q)$(TEST_ENV) $(BUILD)/tests/oom/runner $(BUILD)/tests/oom/failalloc.so \
	    $(BUILD)/streamlab tests/oom/assertions.lua
	$(Q)$(TEST_ENV) $(BUILD)/tests/oom/runner -r $(BUILD)/tests/oom/failalloc.so \
	    $(BUILD)/streamlab tests/oom/races.lua

bare:
	$(Q)prove -v --exec sh tests/bare/run :: $(BARE_SUITES)

hta-now: all
	$(Q)prove -v --exec sh tests/hta/run :: $(BUILD) $(TRACES)

# The same small programs in PyTorch and here, where there is PyTorch with a GPU.
torch-now: all
	$(Q)$(BUILD)/streamlab --backend sim tests/torch/run.lua compare

bench-now: all $(TOOLS)
	$(Q)$(BUILD)/streamlab tests/bench/bench.lua $(BUILD)

# Reading traces, on whatever bytes libFuzzer makes of those in tests/fuzz/corpus.
FUZZ_FLAGS := -std=c11 -g -O1 $(WARNINGS) -fno-sanitize-recover=all -fno-omit-frame-pointer \
              -fsanitize=fuzzer,address,undefined
$(BUILD)/fuzz/kineto: tests/fuzz/fuzz_kineto.c tests/fuzz/exercise.h core/error.c core/interrupt.c \
    $(BUILD)/report_page.c core/streamlab.h \
    $(wildcard $(TIMELINE_ROOMS:%=%/*.c) $(TIMELINE_ROOMS:%=%/*.h))
	$(call say,fuzzer,$@)
	@mkdir -p $(BUILD)/fuzz/corpus
	$(Q)$(FUZZ_CC) $(CPPFLAGS) -I. $(FUZZ_FLAGS) -o $@ $(filter %.c,$^) $(ZLIB) -lm
fuzz: $(BUILD)/fuzz/kineto
	$(Q)$< -max_total_time=$(FUZZ_SECONDS) -max_len=5120 -timeout=10 -print_final_stats=1 \
	    -dict=tests/fuzz/kineto.dict -artifact_prefix=$(BUILD)/fuzz/ $(BUILD)/fuzz/corpus \
	    tests/fuzz/corpus

# Random programs of calls, with the sanitizers in the program and in Lua, whose own checks of
# its C interface are on as well.
FUZZ_API  := $(BUILD)/fuzz/api
FUZZ_LUA  := $(BUILD)/fuzz/lua
FUZZ_SEED ?= 1
LUA_C      = $(filter-out %/lua.c %/luac.c,$(wildcard $(FUZZ_LUA)/src/*.c))
$(FUZZ_LUA)/liblua.a: $(FUZZ_LUA)/src/lapi.c
	$(call say,lua,$@)
	$(Q)cd $(FUZZ_LUA) && $(CC) -std=gnu99 -g -O1 -DLUA_USE_LINUX -DLUA_USE_APICHECK -DLUAI_ASSERT -fPIC \
	    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
	    -c $(LUA_C:$(FUZZ_LUA)/%=%)
	$(Q)ar rcs $@ $(patsubst %.c,$(FUZZ_LUA)/%.o,$(notdir $(LUA_C)))
fuzz-api-now: $(FUZZ_LUA)/liblua.a
	@+$(MAKE) --no-print-directory BUILD=$(FUZZ_API) SANITIZE=address,undefined NVCC= \
	    LUA_INCLUDE=$(FUZZ_LUA)/src LUA_LIBRARY=$(FUZZ_LUA)/liblua.a $(FUZZ_API)/streamlab
	$(Q)sh tests/fuzz/run_api $(FUZZ_API) $(FUZZ_SECONDS) $(FUZZ_SEED)

puzzler-now: all
	$(Q)$(BUILD)/streamlab scripts/puzzler.lua

# Each of these sets the machine up first; make is then run again, because it has looked
# for Lua before there was one.
AGAIN = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))
setup:
	@CC='$(CC)' LUA_INCLUDE='$(LUA_INCLUDE)' LUA_LIBRARY='$(LUA_LIBRARY)' LUA='$(LUA)' \
	    sh scripts/setup.sh

puzzler: setup
	@+$(AGAIN) puzzler-now
check: setup
	@sh scripts/setup.sh --plots || echo 'make check: no gnuplot, so plots are not tested' >&2
	@+$(AGAIN) check-now
check-long: setup
	@+$(AGAIN) long-now
check-asan: setup
	@+ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 STREAMLAB_TEST_TIMEOUT=4 \
	    $(AGAIN) BUILD=$(BUILD)/asan SANITIZE=address,undefined check-now
check-tsan: setup
	@+if [ -n '$(CUDA_LIB)' ]; then \
	    STREAMLAB_TEST_TIMEOUT=4 $(AGAIN) BUILD=$(BUILD)/tsan SANITIZE=thread tsan-now; \
	    else echo 'make check-tsan: skipped: its threads are in the CUDA backend, and nvcc is not here'; fi
check-gc: setup
	@+$(AGAIN) gc-now
check-races: setup
	@+$(AGAIN) races-now
check-browser: setup
	@+if sh scripts/setup.sh --browser; then $(AGAIN) browser-now; \
	    else echo 'make check-browser: skipped, for want of a browser'; fi
check-oom: setup
	@+$(AGAIN) oom-now
check-bare: bare
fuzz-api: setup
	@sh tests/fuzz/lua_source.sh $(FUZZ_LUA)
	@+$(MAKE) --no-print-directory fuzz-api-now
check-hta: setup
	@+$(AGAIN) hta-now
check-torch: setup
	@+$(AGAIN) torch-now
check-cuda: setup
	@+$(AGAIN) cuda-now
check-memcheck: setup
	@+$(AGAIN) memcheck-now
bench: setup
	@+$(AGAIN) bench-now
bench-cuda: setup
	@+$(AGAIN) bench-cuda-now

# ---- docs -----------------------------------------------------------------
$(BUILD)/man/streamlab-lua.3: $(BUILD)/man/streamlab.1 ;
$(BUILD)/man/streamlab.1: $(GENERATED_FROM)
	$(call say,docs,$(BUILD)/man)
	$(Q)$(BUILD)/streamlab $(GENERATE) man $(BUILD)/man

$(EDITOR_FILE): $(GENERATED_FROM)
	$(call say,docs,$@)
	$(Q)$(BUILD)/streamlab $(GENERATE) editor $(@D)

docs-now: all $(MAN_PAGES) $(EDITOR_FILE)
	$(call say,docs,docs/reference)
	$(Q)$(BUILD)/streamlab $(GENERATE) reference docs/reference

.PHONY: docs docs-now
docs: setup
	@+$(AGAIN) docs-now

# ---- installing -----------------------------------------------------------

INSTALL = DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' BINDIR='$(BINDIR)' LIBDIR='$(LIBDIR)' \
          DATADIR='$(DATADIR)' MANDIR='$(MANDIR)' LUA_CMOD='$(LUA_CMOD)' sh scripts/install.sh

install: all $(MAN_PAGES) $(EDITOR_FILE)
	$(Q)$(INSTALL) install $(BUILD)
uninstall:
	$(Q)$(INSTALL) uninstall $(BUILD)

# What a rock has of it: the module, and beside it the plugin if there is one.
rock: $(BUILD)/streamlab.so $(PLUGIN)
install-rock:
	$(Q)mkdir -p '$(LUA_CMOD)'
	$(Q)cp $(BUILD)/streamlab.so $(wildcard $(BUILD)/streamlab_cuda.so) '$(LUA_CMOD)'

# ---- others ---------------------------------------------------------------

clean:
	rm -rf $(BUILD)

help:
	@echo 'make                build/streamlab, build/streamlab.so, and where there is nvcc'
	@echo '                    build/streamlab_cuda.so'
	@echo 'make puzzler        set the machine up, build, and run scripts/puzzler.lua'
	@echo 'make check          set the machine up, build, and run all tests'
	@echo 'make check-long     the tests that take longest: attacks on the grader, measured figures, sweeps'
	@echo 'make check-asan     the tests under address and undefined-behaviour sanitizers'
	@echo 'make check-tsan     the CUDA backend'"'"'s threads, with CUDA played, under the thread sanitizer'
	@echo 'make check-gc       the Lua tests with the collector running all the time'
	@echo 'make check-races    thousands of random programs with known races, under the race checker'
	@echo 'make check-oom      a script with each of its allocations failing once'
	@echo 'make check-hta      traces held against Holistic Trace Analysis, which PyPI has'
	@echo 'make check-browser  the pictures in headless Chromium'
	@echo 'make check-bare     the README'"'"'s two commands, the rock and an install, on a bare Debian'
	@echo 'make check-torch    small programs in PyTorch and here, which must show the same or what is stated'
	@echo 'make check-cuda     what both backends must do, on the GPU'
	@echo 'make check-memcheck the same under compute-sanitizer'
	@echo 'make fuzz           the reader of traces under libFuzzer, for FUZZ_SECONDS=600'
	@echo 'make fuzz-api       random programs of calls, from FUZZ_SEED=1 on, with Lua sanitized as well'
	@echo 'make bench          the figures of the simulated GPU, held against their limits'
	@echo 'make bench-cuda     the CUDA backend beside plain CUDA C and PyTorch, on the GPU'
	@echo 'make docs           docs/reference, the man pages and what editors read, of docs/api'
	@echo 'make install        put it below PREFIX=/usr/local; DESTDIR= for packagers'
	@echo 'make uninstall      remove it from there'
	@echo 'make setup          install what is missing, nothing else'
	@echo 'make clean          remove build/'
	@echo 'Settings: CC CFLAGS LDFLAGS BUILD PREFIX DESTDIR NVCC LIBEDIT LUA_INCLUDE LUA_LIBRARY LUA'
	@echo '          TEST_JOBS V=1'

.PHONY: all relink need-lua need-lua-headers need-nvcc install uninstall rock install-rock \
        check-now long-now bare cuda-now memcheck-now tsan-now gc-now races-now oom-now hta-now \
        browser-now bench-now bench-cuda-now puzzler-now setup puzzler check check-long check-bare \
        check-cuda check-torch torch-now check-memcheck check-asan check-tsan check-gc check-races check-oom check-hta \
        check-browser bench bench-cuda fuzz fuzz-api fuzz-api-now clean help
.SECONDARY:
.DELETE_ON_ERROR:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
