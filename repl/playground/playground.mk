# playground.mk - streamlab for a browser: the program as WebAssembly, and the page around it. The
# Makefile includes it. Emscripten compiles; Lua and zlib come as Debian's sources.

EMCC       ?= emcc
WASM       := $(BUILD)/wasm
SOURCES    := $(BUILD)/source
PLAYGROUND := $(BUILD)/playground
LUA_SOURCE := $(SOURCES)/lua5.4
Z_SOURCE   := $(SOURCES)/zlib
SMALL      := -Oz -Qunused-arguments

$(SOURCES)/%/.done: scripts/source.sh
	$(call say,source,$*)
	@mkdir -p $(SOURCES)
	$(Q)sh scripts/source.sh $* $(@D)
$(Z_SOURCE)/.done: | $(LUA_SOURCE)/.done # one apt at a time

# $(1): the archive; $(2): the source; $(3): its files; $(4): flags
define wasm_library
$(WASM)/lib$(1).a: $(2)/.done
	$$(call say,emcc,$$@)
	@mkdir -p $(WASM)/$(1)
	$$(Q)cd $(WASM)/$(1) && $(EMCC) $(SMALL) $(4) -c $$(addprefix $(abspath $(2))/,$(3))
	$$(Q)emar rcs $$@ $(WASM)/$(1)/*.o
endef
LUA_FILES := lapi lcode lctype ldebug ldo ldump lfunc lgc llex lmem lobject lopcodes lparser lstate \
             lstring ltable ltm lundump lvm lzio lauxlib lbaselib lcorolib ldblib linit liolib lmathlib \
             loadlib loslib lstrlib ltablib lutf8lib
Z_FILES   := adler32 compress crc32 deflate gzclose gzlib gzread gzwrite inffast inflate inftrees trees \
             uncompr zutil
$(eval $(call wasm_library,lua,$(LUA_SOURCE),$(LUA_FILES:%=src/%.c),-DLUA_USE_POSIX))
$(eval $(call wasm_library,z,$(Z_SOURCE),$(Z_FILES:%=%.c),-DHAVE_UNISTD_H))

# What the system lacks: the C library's functions, and processes.
WASM_OWN := $(patsubst repl/playground/wasm/%.c,$(WASM)/own/%.o,$(wildcard repl/playground/wasm/*.c))
$(WASM)/own/%.o: repl/playground/wasm/%.c $(LUA_SOURCE)/.done
	$(call say,emcc,$<)
	@mkdir -p $(@D)
	$(Q)$(EMCC) $(SMALL) -I$(LUA_SOURCE)/src -MMD -c -o $@ $<
	$(Q)rm -f $(WASM)/streamlab # so that it is linked again

# A start for each command: main() is called by the worker. At -O1, since the passes of a higher one
# over the JavaScript fail with newer versions of node; the program itself is compiled with -Oz.
WASM_LINK := -O1 -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=2GB -sTOTAL_STACK=4MB -sMODULARIZE=1 \
             -sEXPORT_NAME=streamlab -sINVOKE_RUN=0 -sEXIT_RUNTIME=1 -sFORCE_FILESYSTEM=1 \
             -sEXPORTED_RUNTIME_METHODS=callMain,FS,ENV -sENVIRONMENT=worker,node
WASM_MAKE  = EMBED_FROM=$(WASM)/squeezed CPPFLAGS='-I$(abspath $(Z_SOURCE))' CFLAGS='$(SMALL)' LDFLAGS='$(WASM_LINK)' $(MAKE) \
             --no-print-directory BUILD=$(WASM) CC=$(EMCC) NVCC= LIBSECCOMP=0 HARDEN=0 \
             LUA_INCLUDE=$(abspath $(LUA_SOURCE))/src LUA_LIBRARY=$(abspath $(WASM))/liblua.a \
             PROGRAM_ZLIB='$(WASM)/libz.a $(WASM_OWN)' REPLACED='$(WASM)/repl/sandbox/children.o $(WASM)/repl/sandbox/confine.o' \
             PROGRAM_FILES='$(WASM_FILES)' DEVICE=  FIGURES=$(WASM)/bindings/figures_none.o \
             EXPORT_FLAGS= LIBS=-lm SYSTEM=WebAssembly

# What needs a GPU, processes or a compiler stays out of it, but for what the other commands share.
WASM_WITHOUT := repl/compare/% repl/plans/% repl/labs/autograder/%
WASM_FILES   := $(filter-out $(WASM_WITHOUT),$(PROGRAM_FILES)) repl/compare/entries.lua \
                $(wildcard scripts/measure/targets.lua scripts/measure/probe.lua scripts/measure/probe/*.lua) \
                $(addprefix scripts/measure/calibrate/,flat.lua reference.lua report.lua)

# The Lua that is built in, without comments.
WASM_LUA := $(EMBEDDED) $(WASM_FILES)
$(WASM)/squeezed/.done: repl/playground/squeeze.lua $(WASM_LUA) $(PAGE) $(BUILD)/streamlab
	$(call say,squeeze,$(@D))
	$(Q)rm -rf $(@D) && mkdir -p $(@D)
	$(Q)$(BUILD)/streamlab $< $(@D) $(WASM_LUA) $(PAGE)
	$(Q)touch $@ && rm -f $(WASM)/embedded.c $(WASM)/program_files.c $(WASM)/report_page.c

$(WASM)/streamlab: $(WASM)/liblua.a $(WASM)/libz.a $(WASM_OWN) $(WASM)/squeezed/.done FORCE
	+$(Q)$(UNLESS_DRY_RUN)$(WASM_MAKE) $@
FORCE:

# ---- the page ----------------------------------------------------------------------------------

# Debian's CodeMirror 5 in one file. esbuild makes scripts smaller where it is there.
CODEMIRROR ?= /usr/share/javascript/codemirror
EDITOR_JS  := $(addprefix $(CODEMIRROR)/,lib/codemirror.js mode/lua/lua.js addon/hint/show-hint.js \
              addon/edit/matchbrackets.js addon/edit/closebrackets.js)
EDITOR_CSS := $(addprefix $(CODEMIRROR)/,lib/codemirror.css addon/hint/show-hint.css)
minify      = $(if $(shell command -v esbuild),esbuild --minify --loader=js,cat)
PAGE_FILES := $(addprefix repl/playground/web/,playground.css playground.js cost.js output.js links.js \
              task.js program.js worker.js)
PROFILES    = $(patsubst scripts/profiles/%.lua,"%"$(comma),$(sort $(wildcard scripts/profiles/*.lua)))
comma      := ,

$(PLAYGROUND)/streamlab.wasm: $(WASM)/streamlab
	$(call say,wasm,$@)
	@mkdir -p $(@D)
	$(Q)wasm-opt -Oz --strip-debug --strip-producers $(WASM)/streamlab.wasm -o $@
$(PLAYGROUND)/streamlab.js: $(WASM)/streamlab
	@mkdir -p $(@D)
	$(Q)$(minify) < $< > $@
$(PLAYGROUND)/editor.js: $(EDITOR_JS) repl/playground/playground.mk
	@mkdir -p $(@D)
	$(Q){ cat $(EDITOR_JS); echo 'const PROFILES = [$(PROFILES)];'; } | sed 's/^const PROFILES/var PROFILES/' | $(minify) > $@
$(PLAYGROUND)/editor.css: $(EDITOR_CSS)
	@mkdir -p $(@D)
	$(Q)cat $^ > $@
$(PLAYGROUND)/scripts.json: repl/playground/collect.lua $(BUILD)/streamlab $(wildcard scripts/*.lua scripts/*/*.lua \
                            scripts/labs/*/* docs/guide/*.md)
	$(call say,collect,$@)
	$(Q)rm -rf $(@D)/files && mkdir -p $(@D)
	$(Q)$(BUILD)/streamlab $< $(@D) $(abspath $(BUILD))/streamlab
$(PLAYGROUND)/index.html: repl/playground/policy.lua repl/playground/web/index.html $(BUILD)/streamlab
	@mkdir -p $(@D)
	$(Q)$(BUILD)/streamlab --backend sim $< repl/playground/web/index.html $@

## make playground     build/playground/: streamlab as a page, for any server of files
playground: all $(addprefix $(PLAYGROUND)/,streamlab.wasm streamlab.js editor.js editor.css scripts.json index.html) $(PAGE_FILES)
	$(Q)cp $(PAGE_FILES) $(PLAYGROUND)
	@echo 'The playground is in $(PLAYGROUND). To see it: python3 -m http.server --directory $(PLAYGROUND)'
	@echo 'and open http://localhost:8000; or copy the folder to any server of files (docs/playground.md).'

.PHONY: playground FORCE
-include $(wildcard $(WASM)/own/*.d)
