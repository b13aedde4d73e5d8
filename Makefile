# `make run` and `make test` are all that a new user needs.

SWIFT ?= swift
# A test signs a pack with ssh-keygen from openssh-client.
PACKAGES = libsqlite3-dev zlib1g-dev libssl-dev pkg-config openssh-client
# Optional libraries: ISA-L inflates archives in a third of the time (see docs/decisions.md), the
# next two read zstd and bzip2, the last writes report.xlsx.
OPTIONAL = libisal-dev libzstd-dev libbz2-dev libxlsxwriter-dev
has = $(shell test -f /usr/include/$(1) && echo 1 || echo 0)
export WITH_ISAL ?= $(call has,isa-l/igzip_lib.h)
export WITH_ZSTD ?= $(call has,zstd.h)
export WITH_BZIP2 ?= $(call has,bzlib.h)
export WITH_XLSX ?= $(call has,xlsxwriter.h)
BINARY = .build/release/subledger
POINTS ?= 60
SORTS ?= crash power disk read signal limits together large
SAMPLE = --archives sample-data/archives --snapshots sample-data/snapshots \
	--config sample-data/subledger.yaml --prices sample-data/prices.csv --as-of 2026-03-01

# Where `make install` installs; packages are built below DESTDIR.
PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: run test build build-tests install install-test deb deb-test lint messages sample settings
.PHONY: bench recall alerts stores attack faults fetch-test fuzz tsan asan readers page pictures
.PHONY: ledger guard clean packages spark spark-home spark-test

# Builds the program, and publishes the reports of sample-data into reports.
run: build
	@ledger=$$(mktemp -d) && trap 'rm -rf "$$ledger"' EXIT && \
	$(BINARY) run $(SAMPLE) --ledger "$$ledger/subledger.sqlite" --out reports --adopt
	@echo "reports/ holds the report set of sample-data/"

# Builds and tests everything.
test: build-tests
	$(SWIFT) test --skip-build --scratch-path .build/tests

# In its own folder, so that it can run at the same time as `build`.
build-tests: packages
	$(SWIFT) build --build-tests --scratch-path .build/tests

# Swift's libraries are linked statically: the program starts in half the time and runs without an
# installed Swift. lld links it, because the system's linker warns of functions in these libraries.
# Exclusive access to variables is checked only in tests.
build: packages
	$(SWIFT) build -c release --static-swift-stdlib -Xswiftc -use-ld=lld \
		-Xswiftc -enforce-exclusivity=unchecked --product subledger

# Installs the program with manual pages, completions, example configuration and units.
install: PACKAGES += binutils chrpath python3
install: build
	packaging/install.sh $(BINARY) "$(DESTDIR)" "$(PREFIX)" "$(PREFIX)/share/zsh/site-functions"

# Installs into a temporary folder, and checks that everything is there and as documented.
install-test: PACKAGES += binutils chrpath fish man-db python3 systemd zsh
install-test: build
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	$(MAKE) --no-print-directory install DESTDIR="$$folder" PREFIX=/usr/local && \
	packaging/check.sh "$$folder" /usr/local

# Builds a Debian package in .build/deb.
deb: PACKAGES += binutils chrpath dpkg-dev lintian python3
deb: build
	@rm -rf .build/deb
	@file=$$(packaging/deb/build.sh $(BINARY) .build/deb) && \
	lintian --fail-on error "$$file" && echo "$$file"

# Installs that package in a fresh Debian 12, runs the sample, and purges it; needs root.
deb-test: PACKAGES += debootstrap
deb-test: deb
	packaging/deb/test.sh .build/deb/subledger_*.deb

# Checks the formatting, and those rules of CONTRIBUTING.md that the linter can check.
lint:
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests

# Prints every text that users read, with its file and line.
messages: PACKAGES += python3
messages: packages
	@Tests/Messages/messages.py

# Times full runs on 500,000 simulated events (see docs/benchmarks.md).
bench: PACKAGES += bc python3 sqlite3 time
bench: build
	Tests/Benchmarks/bench.sh $(BINARY)
	Tests/Benchmarks/nights.sh $(BINARY)

# Runs the fault tests of docs/reliability.md, at POINTS points of each sort.
faults: PACKAGES += python3 sqlite3 time
faults: build
	@for sort in $(SORTS); do \
		echo "Tests/Faults/$$sort.sh $(BINARY) $(POINTS)"; \
		Tests/Faults/$$sort.sh $(BINARY) $(POINTS) || exit 1; done

# Reads hostile files, WORLDS random worlds in many orders and splits, and worlds that grow in one
# dimension each (SHAPES, or all) to SCALE times the smallest size (see docs/reliability.md).
attack: PACKAGES += python3 sqlite3 time
attack: build
	Tests/Faults/hostile.sh $(BINARY) $(POINTS)
	Tests/Faults/splits.py $(BINARY) $(or $(WORLDS),60)
	Tests/Faults/growth.sh $(BINARY) $(or $(SCALE),4) $(SHAPES)

# Tests under ThreadSanitizer, and under AddressSanitizer with its leak detection. The skipped test
# limits the size of files, which cuts off a file that ThreadSanitizer maps for itself.
tsan: packages
	$(SWIFT) build --build-tests --sanitize=thread --scratch-path .build/tsan
	TSAN_OPTIONS=suppressions=$(CURDIR)/Tests/Faults/tsan.supp \
		$(SWIFT) test --skip-build --sanitize=thread --scratch-path .build/tsan \
		--skip StreamTests/longFile $(TESTS)

asan: packages
	$(SWIFT) build --build-tests --sanitize=address --scratch-path .build/asan
	ASAN_OPTIONS=detect_leaks=1 \
		LSAN_OPTIONS=print_suppressions=0:suppressions=$(CURDIR)/Tests/Faults/lsan.supp \
		$(SWIFT) test --skip-build --sanitize=address --scratch-path .build/asan $(TESTS)

# Runs every fuzz target for SECONDS. READERS=readers runs only those of archives, lines and
# snapshots, not optimised, which builds in a tenth of the time (see docs/reliability.md).
FUZZED = $(if $(READERS),debug,release)
fuzz: packages
	SUBLEDGER_FUZZ=$(or $(READERS),all) $(SWIFT) build -c $(FUZZED) --disable-index-store \
		--sanitize fuzzer -Xswiftc -enable-testing --product Fuzz --scratch-path .build/fuzz
	FUZZ=.build/fuzz/$(FUZZED)/Fuzz Tests/Fuzz/fuzz.sh $(or $(SECONDS),60) $(READERS)

# Publishes a set in which every text is hostile, and reads it with Python, Miller, SQLite and, if
# pip can install it, DuckDB, and its workbook with LibreOffice; then runs the examples of
# docs/sql.md.
PYTHON = $(CURDIR)/.build/readers/bin/python
readers: PACKAGES += miller python3-venv sqlite3 libreoffice-calc-nogui
readers: build
	@test -x $(PYTHON) || python3 -m venv .build/readers
	@$(PYTHON) -c "import duckdb" 2>/dev/null || $(PYTHON) -m pip install -q duckdb || \
		echo "DuckDB cannot be installed and is left out"
	PYTHON=$(PYTHON) Tests/Faults/readers.sh $(BINARY)
	$(PYTHON) Tests/Faults/guide.py $(BINARY)

# Checks the sample's page in a browser, at several widths, light, dark and printed.
page: PACKAGES += chromium fonts-liberation2 python3
page: packages
	Tests/Page/check.py reports/index.html

# Takes the pictures for README.md and docs/reports.md.
pictures: PACKAGES += chromium fonts-liberation2 pngquant python3
pictures: packages
	Tests/Page/check.py --pictures docs/pictures reports/index.html

# Runs the commands of docs/guide.md in a fresh Debian 12; needs root.
.PHONY: guide
guide: PACKAGES += debootstrap
guide: deb
	Tests/Guide/guide.sh $(BINARY) .build/deb/subledger_*.deb

# Keeps the ledger of a release for later programs to migrate: make ledger RELEASE=0.2.0
ledger: build
	@test -n "$(RELEASE)" || { echo "which release? make ledger RELEASE=0.2.0" >&2; exit 1; }
	Tests/Ledgers/make.sh $(BINARY) Tests/Ledgers/$(RELEASE)

# Reads sample-data from object stores on this machine (see docs/object-stores.md): from moto with
# the AWS command line, and from gcp-storage-emulator with rclone; FAKES="az" needs azurite (npm).
FAKES ?= s3 gs
STORES = $(CURDIR)/.build/stores
stores: PACKAGES += curl python3-venv rclone
stores: build
	@test -x $(STORES)/bin/gcp-storage-emulator || { python3 -m venv $(STORES) && \
		$(STORES)/bin/pip install -q gcp-storage-emulator; }
	@{ command -v moto_server && command -v aws; } >/dev/null || test -x $(STORES)/bin/aws || \
		$(STORES)/bin/pip install -q 'moto[server]' awscli
	PATH=$(STORES)/bin:$$PATH Tests/ObjectStores/stores.sh $(BINARY) $(FAKES)

# Runs the sample on Apache Spark, which pip installs, and compares the set with reports/; if Spark
# cannot be installed, it says so and skips the run.
SPARK = $(CURDIR)/.build/spark
SPARK_PACKAGES = openjdk-17-jre-headless python3-venv
WITH_SPARK = PATH=$(SPARK)/bin:$$PATH
spark: spark-home
	@$(WITH_SPARK) Tests/Spark/sample.sh $(BINARY)

# The same for simulated worlds over several runs, with faults, and on a cluster.
spark-test: PACKAGES += sqlite3
spark-test: spark
	@for part in worlds urls webhdfs hdfs s3a faults cluster; do echo "Tests/Spark/$$part.sh"; \
		$(WITH_SPARK) Tests/Spark/$$part.sh $(BINARY) || exit 1; done

spark-home: build
	@test -n "$$SPARK_HOME" || test -x $(SPARK)/bin/spark-sql || { $(MAKE) -s packages \
		PACKAGES="$(SPARK_PACKAGES)" && python3 -m venv $(SPARK) && \
		$(SPARK)/bin/pip install -q pyspark; } || echo "Spark cannot be installed"

# Tests the example alerts, and the metrics of a run of sample-data. The package of Prometheus is
# unpacked, not installed, because installing it would start a server.
PROMETHEUS = .build/prometheus
alerts: build
	@test -x $(PROMETHEUS)/usr/bin/promtool || { mkdir -p $(PROMETHEUS) && cd $(PROMETHEUS) && \
		apt-get download -qq prometheus && dpkg -x prometheus_*.deb . && rm prometheus_*.deb; }
	$(PROMETHEUS)/usr/bin/promtool test rules packaging/prometheus/alerts_test.yml
	@room=$$(mktemp -d) && trap 'rm -rf "$$room"' EXIT && \
		$(BINARY) run $(SAMPLE) --ledger "$$room/ledger" --out "$$room/reports" \
		--metrics "$$room/metrics" && \
		$(PROMETHEUS)/usr/bin/promtool check metrics <"$$room/metrics"

# Fetches the snapshots of USERS users from a failing server, with kills, and through a proxy from a
# server whose certificate a custom authority issued (see docs/fetch.md).
fetch-test: PACKAGES += python3 libcurl4 openssl
fetch-test: build
	Tests/Fetch/fetch.py $(BINARY) $(or $(USERS),2000)
	Tests/Fetch/network.py $(BINARY)

# Fails when a run needs more instructions than recorded (see CONTRIBUTING.md).
guard: PACKAGES += valgrind
guard: build
	Tests/Benchmarks/instructions.sh $(BINARY)

# Measures which lost events are found (see docs/reconciliation.md); SHORT=1 uses one small world.
recall: build
	Tests/Benchmarks/recall.py $(BINARY) $(if $(SHORT),--seeds 401 --subscribers 300)

# Writes the example configuration and its JSON Schema for editors from the declared settings.
settings: build
	$(BINARY) config schema --example > subledger.example.yaml
	$(BINARY) config schema > docs/subledger.schema.json

# Creates sample-data again (see sample-data/README.md).
sample: build
	sample-data/make.sh $(BINARY)

# Installs missing packages; if it cannot, says what to do. OPTIONAL packages may be missing.
packages:
	@missing=""; for package in $(PACKAGES); do \
		dpkg -s $$package >/dev/null 2>&1 || missing="$$missing $$package"; done; \
	optional=""; dpkg -s $(OPTIONAL) >/dev/null 2>&1 || optional="$(OPTIONAL)"; \
	if [ -z "$$missing$$optional" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ]; then sudo=""; \
	elif command -v sudo >/dev/null 2>&1; then sudo="sudo"; \
	elif [ -z "$$missing" ]; then exit 0; \
	else echo "cannot install$$missing: not root and no sudo; ask an administrator to run:" \
		"apt-get install$$missing" >&2; exit 1; fi; \
	install() { DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq "$$@" >/dev/null; }; \
	update() { $$sudo apt-get update -qq; }; \
	if [ -n "$$missing" ]; then update && install $$missing || { \
		echo "cannot install$$missing: see the lines above; this needs Debian 12 and a" \
			"package source" >&2; exit 1; }; fi; \
	if [ -n "$$optional" ]; then install $$optional 2>/dev/null || \
		{ update && install $$optional; } 2>/dev/null || \
		echo "cannot install $$optional: without them archives are inflated by zlib, zstd and" \
			"bzip2 are not read, and report.xlsx is not written"; fi
	@command -v $(SWIFT) >/dev/null 2>&1 || { \
		echo "cannot find swift: install Swift 6.3 from swift.org and put it on PATH" >&2; exit 1; }

clean:
	rm -rf .build
