# bloom: Bloom filters for SQLite.  `make help` lists the targets; V=1 shows
# the commands; WERROR=1 makes warnings errors.

CC       ?= cc
OPT      ?= -O3 -g1
DESTDIR  ?=
prefix   ?= /usr/local
libdir   ?= $(prefix)/lib
includedir ?= $(prefix)/include
mandir   ?= $(prefix)/share/man

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion \
  -Wcast-qual -Wcast-align -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla \
  -Wpointer-arith -Wwrite-strings -Wswitch-enum -Wformat=2 -Wimplicit-fallthrough \
  -Wdouble-promotion $(if $(WERROR),-Werror)

# Never -march or -mavx2: the binary must not depend on the machine it is built on.
# assert() is on under sanitizers, and with -DBLOOM_DEBUG in CPPFLAGS (ext/core/debug.h).
BLOOM_CFLAGS = -std=c11 -fPIC -fvisibility=hidden $(WARNINGS) $(OPT) \
  $(if $(findstring -fsanitize,$(SANITIZE)),-DBLOOM_DEBUG) $(SANITIZE) $(CPPFLAGS) $(CFLAGS)

HEADERS        = $(wildcard ext/*.h ext/*/*.h ext/*/*/*.h)
CORE_SOURCES   = $(sort $(wildcard ext/core/*.c ext/core/*/*.c))
SQLITE_SOURCES = $(sort $(wildcard ext/sqlite/*.c ext/sqlite/*/*.c)) ext/bloom.c
SOURCES        = $(CORE_SOURCES) $(SQLITE_SOURCES)

# BUILD holds one build: its own folder for every set of flags (test/lib/shared.sh).
BUILD ?= build/release
OBJECTS      = $(SOURCES:%.c=$(BUILD)/%.o)
EXTENSION ?= $(if $(filter Darwin,$(shell uname -s)),bloom.dylib,bloom.so)
LIBRARY = $(BUILD)/ext/$(notdir $(EXTENSION))

Q = $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2);)

.PHONY: all
all: $(EXTENSION) ## Build the loadable extension, ./bloom.so

# A copy of what BUILD holds, also where another BUILD made the one that is there. It is
# put in place whole, for a program may have the old one loaded.
$(EXTENSION): $(LIBRARY) FORCE
	@cmp -s $< $@ || { cp $< $@.new && mv -f $@.new $@; }

$(LIBRARY): $(OBJECTS)
	$(call say,LINK,$@)$(CC) -shared -o $@ $(OBJECTS) $(SANITIZE) $(LDFLAGS)

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(BLOOM_CFLAGS) -MMD -MP -c -o $@ $<

# What all in BUILD is made by and of: if that changes, all is rebuilt.  test/test.mk adds to it.
MADE_BY := $(CC) $(BLOOM_CFLAGS) $(LDFLAGS) $(SOURCES)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(MADE_BY))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(MADE_BY))' >$@
FORCE:

# -- Using it ----------------------------------------------------------------

.PHONY: demo
demo: $(EXTENSION) ## Pre-screen a real join: this machine's package index
	$(Q)sh examples/packages/run.sh

VERSION = $(shell sed -n 's/^.define BLOOM_VERSION "\(.*\)"/\1/p' ext/bloom.h)
INSTALLED = $(libdir)/lib$(notdir $(EXTENSION)) $(includedir)/bloom.h $(libdir)/pkgconfig/sqlite-bloom.pc \
  $(mandir)/man7/sqlite-bloom.7

.PHONY: install
install: ## Install what make built: then `.load libbloom` works from anywhere
	@test -e $(EXTENSION) || { echo 'There is no $(EXTENSION) to install: run make first.' >&2; exit 1; }
	install -d $(foreach file,$(INSTALLED),"$(DESTDIR)$(dir $(file))")
	install -m 755 $(EXTENSION) "$(DESTDIR)$(word 1,$(INSTALLED))"
	install -m 644 ext/bloom.h "$(DESTDIR)$(word 2,$(INSTALLED))"
	sed 's|@prefix@|$(prefix)|; s|@libdir@|$(libdir)|; s|@includedir@|$(includedir)|; s|@version@|$(VERSION)|' \
	  ext/packaging/sqlite-bloom.pc.in >"$(DESTDIR)$(word 3,$(INSTALLED))"
	awk -f ext/packaging/manpage.awk -v version=$(VERSION) -v extension=libbloom \
	  ext/FUNCTIONS.md ext/packaging/sqlite-bloom.7.in >"$(DESTDIR)$(word 4,$(INSTALLED))"
	-@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ! command -v ldconfig >/dev/null || ldconfig

.PHONY: uninstall
uninstall: ## Remove what install put there
	rm -f $(foreach file,$(INSTALLED),"$(DESTDIR)$(file)")

.PHONY: amalgamation
amalgamation: ## Write the extension as one file: build/amalgamation/bloom.c and bloom.h
	$(Q)sh ext/amalgamate.sh build/amalgamation

.PHONY: dist
dist: ## Make the packages, build/dist: npm, Python, Debian, sqlpkg, archives
	$(Q)sh ext/packaging/dist.sh

.PHONY: wasm
wasm: ## Make SQLite with bloom for web pages, and a page that shows it: build/playground
	$(Q)sh examples/playground/wasm/build.sh && sh examples/playground/build.sh

.PHONY: static-host
static-host: $(EXTENSION) ## Make a page that searches a big log on a static host: build/static_host
	$(Q)sh examples/static_host/build.sh

# Tests and benchmarks; a package of the sources has none.
-include test/test.mk

.PHONY: clean
clean: ## Remove all that was built
	rm -rf build $(EXTENSION) examples/static/blacklist

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

-include $(shell find build $(BUILD) -name '*.d' 2>/dev/null)
