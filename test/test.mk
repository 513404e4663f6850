# Tests and benchmarks, included by the Makefile at the top; test/README.md is the map.

CXX      ?= c++
BLOOM_CXXFLAGS = -std=c++17 -Wall -Wextra $(if $(WERROR),-Werror) $(OPT) $(SANITIZE) $(CPPFLAGS) $(CXXFLAGS)
CORE_OBJECTS = $(CORE_SOURCES:%.c=$(BUILD)/%.o)

# Tests against live LevelDB are left out, with a word, where it is not installed.
HAVE_LEVELDB := $(shell printf '\043include <leveldb/filter_policy.h>\n' | $(CXX) $(CPPFLAGS) -E -x c++ - >/dev/null 2>&1 && echo yes)
CORE_SUPPORT = test/core/support.c
SQLITE_LIBS ?= -lsqlite3
FUZZER ?=
MADE_BY += $(CXX) $(BLOOM_CXXFLAGS) $(SQLITE_LIBS) $(FUZZER) LevelDB: $(HAVE_LEVELDB) $(CORE_SUPPORT)

# -- Testing -----------------------------------------------------------------

CORE_TESTS = $(patsubst test/core/%.c,$(BUILD)/test/core/%,$(wildcard test/core/*_test.c))
ifneq ($(HAVE_LEVELDB),yes)
CORE_TESTS := $(filter-out %/leveldb_oracle_test,$(CORE_TESTS))
endif

.PHONY: test
test: ## Run the quick tests, in four minutes; ends with `N passed, N failed`
	$(Q)sh test/run.sh --made

.PHONY: test-long
test-long: ## Run those that take longer, for an hour; installs what they need
	$(Q)sh test/long.sh

.PHONY: check-release
check-release: ## Run everything before a release, for hours; installs what it needs
	$(Q)sh test/check_release.sh

.PHONY: clients
clients: $(EXTENSION) ## One scenario in every client of SQLite: Python, Node, PHP, Go ...; installs them
	$(Q)sh examples/clients/test.sh

.PHONY: cluster
cluster: $(EXTENSION) ## A cluster (dqlite) whose nodes are killed again and again; installs it
	$(Q)sh examples/dqlite/test.sh

.PHONY: playground-test
playground-test: ## Try what `make wasm` made, under Node and in headless Chromium
	$(Q)sh examples/playground/test.sh

.PHONY: static-host-test
static-host-test: ## Try what `make static-host` made, in headless Chromium
	$(Q)sh examples/static_host/test.sh

MUTATION_ARGS ?=

.PHONY: mutation
mutation: ## Is each small change to ext noticed? (MUTATION_ARGS="--limit 100": a sample)
	$(Q)$(or $(PYTHON),/usr/bin/python3) test/quality/mutation/mutate.py $(MUTATION_ARGS)

.PHONY: coverage
coverage: ## Lines and branches that the tests take; fails below the bar
	$(Q)sh test/quality/coverage/run.sh

.PHONY: analyze
analyze: ## Static analysis: clang-tidy, cppcheck, gcc -fanalyzer
	$(Q)sh test/quality/static_analysis/run.sh

.PHONY: core-tests
core-tests: $(CORE_TESTS) ## Build the core's tests (they link without SQLite)
	@printf '%s\n' $(CORE_TESTS) >$(BUILD)/test/core/programs

# The core's objects alone: a call into SQLite would not link.
$(BUILD)/test/core/%_test: $(BUILD)/test/core/%_test.o $(CORE_SUPPORT:%.c=$(BUILD)/%.o) $(CORE_OBJECTS)
	$(call say,LINK,$@)$(CC) -o $@ $^ $(SANITIZE) $(LDFLAGS) -lm

$(BUILD)/test/core/leveldb_oracle_test: $(BUILD)/test/core/leveldb_oracle_test.o \
    $(BUILD)/test/core/leveldb_oracle.o $(CORE_SUPPORT:%.c=$(BUILD)/%.o) $(CORE_OBJECTS)
	$(call say,LINK,$@)$(CXX) -o $@ $^ $(SANITIZE) $(LDFLAGS) -lleveldb -lm

$(BUILD)/test/core/%.o: test/core/%.cc $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CXX,$<)$(CXX) $(BLOOM_CXXFLAGS) -MMD -MP -c -o $@ $<

# What is run a few times needs no optimisation: -O1 takes twice as long to compile.
LOADING_PROGRAMS = $(addprefix $(BUILD)/test/,faults/oom/oom vtab/faults faults/limits/limits faults/load/load)
$(BUILD)/test/%.o $(LOADING_PROGRAMS) $(BUILD)/test/interop/leveldb_files/leveldb_files: OPT := $(OPT:-O3=-O0)

.PHONY: quick-tests
quick-tests: core-tests sql-process $(LOADING_PROGRAMS) $(if $(HAVE_LEVELDB),$(BUILD)/test/interop/leveldb_files/leveldb_files) # Build what test/run.sh runs

.PHONY: sql-process
sql-process: $(BUILD)/test/platforms/machines/sql_process ## Build the process behind `sqllogictest.tcl --process`

# With -DSQLITE_CORE in CPPFLAGS bloom is a part of it.
$(BUILD)/test/platforms/machines/sql_process: $(BUILD)/test/platforms/machines/sql_process.o $(if $(findstring -DSQLITE_CORE,$(CPPFLAGS)),$(OBJECTS))
	$(call say,LINK,$@)$(CC) -o $@ $^ $(SANITIZE) $(LDFLAGS) $(SQLITE_LIBS)

# -- Fuzzing ------------------------------------------------------------------

# Linked with SQLite, not loaded by it: for a BUILD of its own, made with
# CPPFLAGS=-DSQLITE_CORE.  FUZZER=-fsanitize=fuzzer gives libFuzzer's main, else
# the plain one that replays files (test/hostile/fuzz/run.sh, test/hostile/fuzz/replay.sh).
FUZZ_TARGETS = read_any_bytes read_leveldb_files entries regexps sql_statements
.PHONY: list-fuzz-targets
list-fuzz-targets: # for the scripts
	@echo $(FUZZ_TARGETS)

FUZZ_SUPPORT = $(BUILD)/test/hostile/fuzz/fuzz.o $(if $(FUZZER),,$(BUILD)/test/hostile/fuzz/plain_main.o)

.PHONY: fuzz-targets
fuzz-targets: $(FUZZ_TARGETS:%=$(BUILD)/test/hostile/fuzz/%) ## Build the fuzz targets (test/hostile/fuzz/run.sh says how)

$(FUZZ_TARGETS:%=$(BUILD)/test/hostile/fuzz/%): %: %.o $(FUZZ_SUPPORT) $(OBJECTS)
	$(call say,LINK,$@)$(FUZZ_LINKER) -o $@ $^ $(SANITIZE) $(FUZZER) $(LDFLAGS) $(SQLITE_LIBS) $(FUZZ_LIBS) -lm

FUZZ_LINKER = $(CC)
# A replay compares with live LevelDB; libFuzzer's flags are not for its C++ compiler.
ifeq ($(HAVE_LEVELDB)$(FUZZER),yes)
$(BUILD)/test/hostile/fuzz/read_any_bytes.o: BLOOM_CFLAGS += -DHAVE_LEVELDB
$(BUILD)/test/hostile/fuzz/read_any_bytes: FUZZ_LIBS = -lleveldb
$(BUILD)/test/hostile/fuzz/read_any_bytes: FUZZ_LINKER = $(CXX)
$(BUILD)/test/hostile/fuzz/read_any_bytes: $(BUILD)/test/core/leveldb_oracle.o
endif

# Many threads: for a BUILD made with -DSQLITE_CORE, too (test/faults/threads/run.sh).
$(BUILD)/test/faults/threads/threads $(BUILD)/test/faults/threads/shared_cache: $(BUILD)/%: $(BUILD)/%.o $(OBJECTS)
	$(call say,LINK,$@)$(CC) -o $@ $^ $(SANITIZE) $(LDFLAGS) $(SQLITE_LIBS) -lpthread -lm

# Copies of handles: with -DSQLITE_CORE as well (test/faults/handles/run.sh).
$(BUILD)/test/faults/handles/handles: $(BUILD)/test/faults/handles/handles.o $(OBJECTS)
	$(call say,LINK,$@)$(CC) -o $@ $^ $(SANITIZE) $(LDFLAGS) $(SQLITE_LIBS)

# Programs that load the extension into the SQLite that is installed.
$(LOADING_PROGRAMS): $(BUILD)/%: %.c \
    test/lib/failing_memory.h test/lib/sqlite_test.h test/lib/test.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -std=c11 $(WARNINGS) $(OPT) $(SANITIZE) $(CPPFLAGS) -o $@ $< $(LDFLAGS) $(SQLITE_LIBS) -ldl -lpthread

# Without run-time types, as LevelDB itself, whose classes it extends.
$(BUILD)/test/interop/leveldb_files/leveldb_files: test/interop/leveldb_files/leveldb_files.cc test/lib/test.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CXX) $(BLOOM_CXXFLAGS) -fno-rtti -o $@ $< $(LDFLAGS) -lleveldb $(SQLITE_LIBS)

$(BUILD)/test/faults/limits/big_filters: test/faults/limits/big_filters.cc test/lib/sqlite_test.h test/lib/test.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CXX) $(BLOOM_CXXFLAGS) -o $@ $< $(LDFLAGS) -lleveldb $(SQLITE_LIBS)

# Kept: make would delete the tests' objects as intermediate files.
.PRECIOUS: $(BUILD)/%.o

# -- Measuring ----------------------------------------------------------------

HAVE_ROCKSDB := $(shell printf '\043include <rocksdb/filter_policy.h>\n' | $(CXX) -E -x c++ - >/dev/null 2>&1 && echo yes)
.PHONY: bench
bench: ## Measure everything, in a few minutes: tables; medians and plots in build/bench
	$(Q)sh test/bench/run.sh quick $(BENCH)

.PHONY: bench-full
bench-full: ## Measure everything at full size, in hours (BENCH="joins table": only those)
	$(Q)sh test/bench/run.sh full $(BENCH)

.PHONY: bench-keep
bench-keep: ## Keep the pictures of what was measured, and the medians that they show, in test/bench/results
	$(Q)$(or $(PYTHON),/usr/bin/python3) test/bench/plots.py --keep build/bench/results

.PHONY: plots
plots: ## Draw the plots of the results that are kept, test/bench/results/*.svg
	$(Q)$(or $(PYTHON),/usr/bin/python3) test/bench/plots.py

# Against live LevelDB, and RocksDB where it is installed.
build/bench/kernels: build/bench/%: test/bench/%.cc test/bench/bench.h $(CORE_SOURCES) $(HEADERS)
	@mkdir -p $(@D)
	$(call say,CXX,$<)$(MAKE) -s BUILD=build/bench/release core-objects && \
	  $(CXX) $(BLOOM_CXXFLAGS) $(CFLAGS) $(if $(HAVE_ROCKSDB),-DHAVE_ROCKSDB) -o $@ $< \
	  $(CORE_SOURCES:%.c=build/bench/release/%.o) -lleveldb $(if $(HAVE_ROCKSDB),-lrocksdb) -lm

.PHONY: core-objects
core-objects: $(CORE_OBJECTS)
