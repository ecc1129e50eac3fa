# `make help` lists the targets. Nothing is installed that is there already; all that is made stands in
# .build/ and .cache/. The list of Debian packages is Tests/scripts/debian-packages.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

HOST ?= 127.0.0.1
PORT ?= 8080
PHOTOS ?= .cache/photos
# One library per folder of photographs, so that another PHOTOS shows only its own.
LIBRARY ?= .cache/library-$(shell printf %s '$(PHOTOS)' | cksum | cut -d' ' -f1)
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)

scripts := Tests/scripts
# Recipes that need Swift start with this: the toolchain from PATH or /opt/swift, or one clear line.
use_swift = toolchain=$$($(scripts)/swift-toolchain); export PATH="$$toolchain:$$PATH"
# Without a toolchain nothing needs to be installed.
prepare = $(scripts)/swift-toolchain --there; $(scripts)/install-packages
# Not in Package.swift: a package with unsafe flags could not be anyone's dependency.
strict := -Xswiftc -warnings-as-errors
# As Debian's packages have it: addresses of library functions are found at the start and cannot be overwritten afterwards, and
# libraries are not looked for beside the executable.
hardened := --disable-local-rpath -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now
ziggurat := .build/release/ziggurat
standalone := .build/standalone/release/ziggurat
# What visitors load: public/, bundled.
pages := .build/public
libraries := TileGeometry TileStorage PyramidBuilding

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: release
release: ## the optimized executable, .build/release/ziggurat
	@$(prepare) build
	@$(use_swift); swift build -c release --product ziggurat $(RELEASE_FLAGS)

$(pages)/index.html: packaging/bundle-pages $(shell find public -type f)
	@$(prepare) build
	@packaging/bundle-pages $(pages)

.PHONY: pages
pages: $(pages)/index.html ## the pages as visitors load them, .build/public: bundled, minified, compressed

.PHONY: standalone
standalone: $(pages)/index.html ## the executable that needs no toolchain to run, .build/standalone/release/ziggurat
	@$(prepare) build
	@$(use_swift); swift build -c release --product ziggurat --scratch-path .build/standalone --static-swift-stdlib $(hardened)

.PHONY: deb
deb: standalone ## the Debian package, .build/ziggurat_VERSION_ARCHITECTURE.deb
	@$(scripts)/install-packages package
	@packaging/build-deb $(standalone)

.PHONY: release-files
release-files: deb docs ## what a release consists of, .build/release-files: sources, Debian package, pages, documentation, checksums; the same bytes for a commit
	@packaging/release-files .build/release-files "$$(ls -t .build/ziggurat_*.deb | head -n 1)"

.PHONY: test-package
test-package: deb docs test-tools ## the package in a fresh Debian 12 without a toolchain, and the library products as a dependency (as root; minutes)
	@$(use_swift); PACKAGE=$$(ls -t .build/ziggurat_*.deb | head -n 1) .cache/venv/bin/python $(scripts)/python-tests Tests/package

.PHONY: new-machine
new-machine: ## how many minutes a clone, `make demo` and the tutorial take on a fresh Debian 12 with a toolchain (as root)
	@$(scripts)/install-packages package
	@$(use_swift); Tests/package/new-machine

.PHONY: demo
demo: release $(pages)/index.html ## tile PHOTOS=dir (default: Debian's wallpapers) and serve them on PORT=8080
	@[ '$(PHOTOS)' != .cache/photos ] || { $(scripts)/install-packages demo; $(scripts)/wallpapers .cache/photos; }
	@# Exit code 1: some inputs are no images, each named; the others are worth serving.
	@# The wallpapers are links to where their package has them.
	@$(ziggurat) build '$(PHOTOS)' --library '$(LIBRARY)' $(if $(filter .cache/photos,$(PHOTOS)),--follow-links) || [ $$? -eq 1 ]
	@echo 'The program is $(ziggurat). Next, try: $(ziggurat) serve ~/Pictures --build; docs/tutorial.md goes on from there.' >&2
	@exec $(ziggurat) serve '$(LIBRARY)' --host $(HOST) --port $(PORT) --webroot $(pages)

.PHONY: test
test: test-tools ## install what tests need, run everything; the last line is "N passed, N failed"
	@$(use_swift); .cache/venv/bin/python $(scripts)/test-everything $(SUITES)

.PHONY: test-hostile
test-hostile: release test-tools ## nearly a thousand broken files through the builder; attacks among a thousand good pictures
	@FULL=1 GOOD=$${GOOD:-1000} .cache/venv/bin/python $(scripts)/python-tests Tests/hostile

.PHONY: test-kill
test-kill: release test-tools ## kill -9 a library build at KILLS=100 random times, then check and finish it; its sandboxed processes at as many more
	@KILLS=$${KILLS:-100} .cache/venv/bin/python $(scripts)/python-tests Tests/program -k Interruptions -k BuildKills

.PHONY: test-kill-library
test-kill-library: release test-tools ## kill -9 server and builder at KILLS=200 random times of edits, deletions, restores, builds; 200 more of uploads, and of a server's sandboxed processes
	@KILLS=$${KILLS:-200} UPLOAD_KILLS=$${KILLS:-200} .cache/venv/bin/python $(scripts)/python-tests Tests/program \
	  -k test_library_kills -k test_killed_at_any_byte -k ServerKills

.PHONY: test-kill-spaces
test-kill-spaces: release test-tools ## kill -9 writers of a private space at KILLS=100 random times of each kind
	@KILLS=$${KILLS:-100} .cache/venv/bin/python $(scripts)/python-tests Tests/program/spaces -k killed

.PHONY: test-moves
test-moves: release test-tools ## OpenSeadragon at MOVES=1000 random views, none with a missing tile; zooming at each point by each way; Leaflet at each (minutes)
	@FULL=1 MOVES=$${MOVES:-1000} .cache/venv/bin/python $(scripts)/python-tests Tests/browser -k random_moves -k ZoomAtPoint -k CropEnds -k Leaflet

.PHONY: test-agreement
test-agreement: release test-tools ## exact, fast and lossless against vips dzsave on pictures of 100+ megapixels (minutes)
	@.cache/venv/bin/python $(scripts)/python-tests Tests/agreement

.PHONY: test-scale
test-scale: release test-tools ## real engines on this machine: the object store's tests against Ceph and OpenStack Swift, a Slurm cluster whose workers are killed (as root; minutes)
	@$(scripts)/install-packages scale
	@$(use_swift); Tests/scale/with-ceph sh -c 'swift test --filter ObjectStoreTests && .cache/venv/bin/python $(scripts)/python-tests Tests/scale -k Slurm -k StoreAgreement -k AnyKeys'
	@$(use_swift); Tests/scale/with-swift sh -c 'swift test --skip-build --filter RealStoreTests && .cache/venv/bin/python $(scripts)/python-tests Tests/scale -k StoreAgreement -k AnyKeys'

.PHONY: test-edge
test-edge: release test-tools ## nginx and Varnish over three servers: REQUESTS=100000 while 200 archives are replaced in Ceph and a server and a gateway are killed; CHANGES=200 of a folder and of a shared catalog and when they are seen; LATE=100 edits of a writer that stood still (minutes)
	@$(scripts)/install-packages scale
	@.cache/venv/bin/python $(scripts)/python-tests Tests/scale -k Edge
	@STOPPED=30 .cache/venv/bin/python $(scripts)/python-tests Tests/program/fleet -k stopped_writer

FUZZ_RUNS ?= 100000
.PHONY: fuzz
fuzz: release ## parsers of untrusted bytes under libFuzzer and the address sanitizer, FUZZ_RUNS=100000 inputs each; FUZZ="jpeg png tiff end raw dicom pdf metadata ome sidecar book archive record descriptor profile tile sandbox request list directory"
	@$(prepare) build test
	@$(use_swift); ZIGGURAT_FUZZ=1 swift build -c release --scratch-path .build/fuzz --product reader-fuzz --sanitize address \
	  -Xswiftc -sanitize=fuzzer -Xswiftc -enable-testing -Xcc -fsanitize=fuzzer-no-link
	@Tests/fuzz/fuzz .build/fuzz/release/reader-fuzz $(FUZZ_RUNS) $(FUZZ)

.PHONY: test-sanitized
test-sanitized: release test-tools ## the server under the address sanitizer: CLIENTS=1000 that pipeline and leave, heads of any shape, malformed requests (minutes)
	@$(use_swift); swift build -c release --product ziggurat --scratch-path .build/sanitized --sanitize address
	@ZIGGURAT=Tests/scripts/serve-sanitized CLIENTS=$${CLIENTS:-1000} ASAN_OPTIONS=detect_leaks=0 \
	  .cache/venv/bin/python $(scripts)/python-tests Tests/program/http -k Floods -k Heads -k Wire

STORE_CASES ?= 100000
.PHONY: fuzz-store
fuzz-store: ## STORE_CASES=100000 operations on a library in a store that breaks every rule in turn; SEED repeats a run
	@$(prepare) build test
	@$(use_swift); STORE_CASES=$(STORE_CASES) swift test --filter StoreFuzzingTests

SOAK ?= 60
.PHONY: soak
soak: release test-tools ## SOAK=60 minutes of everything at once: readers, editors, uploads, builds, killed sandboxed processes, a full disk; SOAK=2: a smoke run
	@.cache/venv/bin/python Tests/soak/soak $(SOAK)

.PHONY: test-memory
test-memory: release ## a picture of 10 gigapixels within 400 MB (makes a source of 0.8 GB once; minutes)
	@$(scripts)/install-packages bench
	@$(PYTHON) Tests/bench/ten_gigapixels

.PHONY: test-tools
test-tools: .cache/venv/.complete
	@$(prepare) build test

.cache/venv/.complete: $(scripts)/requirements.txt
	@$(scripts)/install-packages test
	@rm -rf .cache/venv; mkdir -p .cache
	@$(PYTHON) -m venv .cache/venv
	@.cache/venv/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

.PHONY: format
format: ## put Swift sources into the form that lint asks for
	@$(use_swift); swift format --in-place --parallel --recursive Package.swift Sources Tests

.PHONY: lint
lint: ## format, long files without a reason, assignments of several properties at once, import cycles of modules, names in the map and the glossary, undocumented exports, sentences and links of README and docs, the language of comments, identifiers and commit subjects, messages of the program, warnings as errors, the page's types, undeclared imports, undefined names in Python
	@$(prepare) build
	@$(PYTHON) $(scripts)/sizes
	@$(PYTHON) $(scripts)/structure
	@$(PYTHON) $(scripts)/map
	@$(PYTHON) $(scripts)/docstrings
	@$(PYTHON) $(scripts)/prose
	@$(PYTHON) $(scripts)/comments
	@$(PYTHON) $(scripts)/messages
	@tsc --project $(scripts)/tsconfig.json
	@! pyflakes3 $$(git grep -lE '^#!.*python' -- Tests packaging) $$(git ls-files 'Tests/*.py') | grep 'undefined name'
	@$(use_swift); swift format lint --strict --parallel --recursive Package.swift Sources Tests
	@$(use_swift); swift build --build-tests $(strict) --explicit-target-dependency-import-check error
	@# Every Debian package that Package.swift names is in the one list, so that a fresh machine gets it.
	@for package in $$(sed -nE 's/^ *c\("[^"]+", "[^"]+", "([^"]+)"\),?$$/\1/p' Package.swift); do \
	  grep -q "^build $$package " $(scripts)/debian-packages || \
	    { echo "lint: $$package, which Package.swift names, is not in $(scripts)/debian-packages" >&2; exit 1; }; \
	done
	@$(MAKE) docs
	@echo "lint: clean"

SINCE ?= $(shell git describe --tags --abbrev=0 2>/dev/null)
.PHONY: api-changes
api-changes: ## changes of the library products that break who uses them, since the last tag or SINCE=revision (minutes)
	@if [ -z '$(SINCE)' ]; then echo "There is no tag yet to compare the library products with: SINCE=REVISION names a commit."; exit; fi; \
	$(prepare) build; $(use_swift); \
	swift package diagnose-api-breaking-changes '$(SINCE)' $(libraries:%=--products %)

.PHONY: docs
docs: ## docs/ and the libraries' documentation as one web site, .build/docs, whose links are checked
	@$(prepare) build docs
	@# With the options of lint, so that neither builds again what the other has built.
	@$(use_swift); swift build --target PyramidBuilding $(strict)
	@$(use_swift); for product in $(libraries); do packaging/docs-site/library-archive $$product .build/libraries; done
	@$(PYTHON) packaging/docs-site/build .build/docs $(libraries:%=.build/libraries/%.doccarchive)
	@$(PYTHON) $(scripts)/links .build/docs
	@echo 'The documentation is .build/docs/index.html.' >&2

.PHONY: bench
bench: release .cache/venv/.complete ## against vips dzsave and nginx, ratios printed; BENCH="build serve library iiif view cold pan smooth space search fair store jxl slides pages", QUICK=1: a smoke run; ONLY=text: the rows that have it; BENCH="sandbox instructions folder waits", and serve: against the build AGAINST=revision or file; BENCH="misses edge": an object store's, and a cache's in front, with Ceph; BENCH=catalog: a million rows
	@$(scripts)/install-packages bench $(if $(filter iiif,$(BENCH)),bench-iiif) $(if $(filter misses edge,$(BENCH)),scale) $(if $(filter edge,$(BENCH)),test)
	@.cache/venv/bin/python Tests/bench/run $(if $(QUICK),--quick) $(if $(ONLY),--only '$(ONLY)') $(BENCH)

DESTDIR ?=
PREFIX ?= /usr/local
# systemd prefers units below /usr/local to the package's.
packaged := /lib/systemd/system/ziggurat.service
.PHONY: install
install: ## executable, page and systemd unit below PREFIX=/usr/local (run `make standalone` first)
	@[ -n '$(DESTDIR)' ] || [ ! -e '$(packaged)' ] || { \
	  echo "The package ziggurat is installed, and this unit would take the place of its: apt remove ziggurat comes first." >&2; exit 1; }
	@[ -x $(standalone) ] || { echo "There is no $(standalone) yet: make standalone, as yourself, comes first." >&2; exit 1; }
	install -D -m 755 $(standalone) '$(DESTDIR)$(PREFIX)/bin/ziggurat'
	mkdir -p '$(DESTDIR)$(PREFIX)/share/ziggurat'
	cp -R $(pages) README.md '$(DESTDIR)$(PREFIX)/share/ziggurat/'
	mkdir -p '$(DESTDIR)$(PREFIX)/lib/systemd/system'
	install -m 644 packaging/ziggurat.socket '$(DESTDIR)$(PREFIX)/lib/systemd/system/ziggurat.socket'
	sed 's|/usr/local|$(PREFIX)|g' packaging/ziggurat.service > '$(DESTDIR)$(PREFIX)/lib/systemd/system/ziggurat.service'

.PHONY: clean
clean: ## remove what make made
	rm -rf .build .cache
