# Building pfs_exporter needs Go, make and bash, nothing else. `make` lists the targets.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS   += --no-builtin-rules

GO    ?= go
BIN   := .build/bin
HERE  := $(CURDIR)

# Settings, each to be given on the command line: make test RACE=1, make fuzz FUZZTIME=5m
RACE      ?=
TESTFLAGS ?=
FUZZTIME  ?= 10s
BENCH     ?= .
BENCHTIME ?= 1s
COUNT     ?= 1

# The version is linked in, as promu does (.promu.yml). Outside git, and before the first
# commit, revision and branch are unknown. The date is the commit's, so that building a commit
# twice gives the same file.
VERSION_PKG := github.com/prometheus/common/version
VERSION     := $(shell cat VERSION)
REVISION    := $(shell git rev-parse --verify --quiet HEAD 2>/dev/null || echo unknown)
BRANCH      := $(shell git rev-parse --abbrev-ref --verify --quiet HEAD 2>/dev/null || echo unknown)
BUILD_USER  ?= $(shell id -un 2>/dev/null || echo unknown)@$(shell hostname 2>/dev/null || echo unknown)
ifndef SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct 2>/dev/null || date +%s)
endif
BUILD_DATE  := $(shell date -u -d @$(SOURCE_DATE_EPOCH) +%Y%m%d-%H:%M:%S 2>/dev/null || date -u -r $(SOURCE_DATE_EPOCH) +%Y%m%d-%H:%M:%S)
LDFLAGS     := -s -w \
  -X $(VERSION_PKG).Version=$(VERSION) \
  -X $(VERSION_PKG).Revision=$(REVISION) \
  -X $(VERSION_PKG).Branch=$(BRANCH) \
  -X $(VERSION_PKG).BuildUser=$(BUILD_USER) \
  -X $(VERSION_PKG).BuildDate=$(BUILD_DATE)
# The version is linked in above, so Go's own stamp, which needs a working git, is not.
GO_BUILD    := CGO_ENABLED=0 $(GO) build -buildvcs=false -trimpath

# The tools, at the versions of tools/go.mod. Without these tags Prometheus takes three times as
# long to build, for service discoveries that no test uses.
PROMETHEUS_VERSION := 3.15.0
TOOL_TAGS    := netgo,remove_all_sd
TOOLS        := golangci-lint promtool prometheus gofumpt benchstat alertmanager amtool
TOOL_golangci-lint := github.com/golangci/golangci-lint/v2/cmd/golangci-lint
TOOL_promtool      := github.com/prometheus/prometheus/cmd/promtool
TOOL_prometheus    := github.com/prometheus/prometheus/cmd/prometheus
TOOL_gofumpt       := mvdan.cc/gofumpt
TOOL_benchstat     := golang.org/x/perf/cmd/benchstat
TOOL_alertmanager  := github.com/prometheus/alertmanager/cmd/alertmanager
TOOL_amtool        := github.com/prometheus/alertmanager/cmd/amtool
# Alertmanager and amtool, of different versions, have modules of their own. The last alertmanager
# with its pages in the module is 0.31.1.
TOOL_MOD_alertmanager     := tools/alertmanager/go.mod
TOOL_MOD_amtool           := tools/alertmanager/amtool/go.mod
TOOL_VERSION_alertmanager := 0.31.1
TOOL_VERSION_amtool       := 0.34.2

E2E_ENV = PFS_EXPORTER_BIN=$(HERE)/pfs_exporter SIMULATOR_BIN=$(HERE)/$(BIN)/lustre-simulator \
  PROMETHEUS_BIN=$(HERE)/$(BIN)/prometheus PROMTOOL_BIN=$(HERE)/$(BIN)/promtool \
  ALERTMANAGER_BIN=$(HERE)/$(BIN)/alertmanager AMTOOL_BIN=$(HERE)/$(BIN)/amtool

# One line before each step, so that a log says what was being done when it failed.
say = printf '\n==> %s\n' '$(1)'

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z][a-z0-9-]*:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile

.PHONY: build
build: ## Build ./pfs_exporter and the simulator (.build/bin/lustre-simulator)
	@$(call say,building pfs_exporter and lustre-simulator $(VERSION))
	@mkdir -p $(BIN)
	@$(GO_BUILD) -tags netgo -ldflags '$(LDFLAGS)' -o pfs_exporter ./exporter
	@$(GO_BUILD) -tags netgo -ldflags '$(LDFLAGS)' -o $(BIN)/lustre-simulator ./simulator/cmd/lustre-simulator

.PHONY: run
run: build ## Run the exporter; with the simulator where there is no Lustre (SIM_ARGS, ARGS, PORT)
	@tools/run.sh

.PHONY: test
test: ## Run the unit tests (RACE=1 for the race detector, TESTFLAGS for more)
	@$(call say,testing)
	@$(GO) test $(if $(RACE),-race) $(TESTFLAGS) ./...
	@echo 'All tests passed.'

# The race detector is the one thing here that needs a C compiler. -short, because it makes code
# five to ten times slower, and `make test` has run the long tests.
.PHONY: race
race: ## Run the unit tests under the race detector (short)
	@if command -v "$$($(GO) env CC)" >/dev/null; then \
	  $(call say,testing under the race detector); CGO_ENABLED=1 $(GO) test -race -short $(TESTFLAGS) ./...; \
	else $(call say,no C compiler: race detector skipped); fi

.PHONY: vet
vet: ## Check formatting, go vet and the shell scripts (the part of lint that needs no tools)
	@$(call say,gofmt and go vet)
	@bad=$$(gofmt -s -l .); if [ -n "$$bad" ]; then echo "not gofmt -s clean (make fmt):"; echo "$$bad"; exit 1; fi
	@$(GO) vet ./...
	@$(GO) vet -tags e2e ./...
	@for f in .ci/run tools/*.sh; do bash -n "$$f"; done

.PHONY: lint
lint: vet $(BIN)/golangci-lint ## vet, golangci-lint, and promtool over the rules there are
	@$(call say,golangci-lint)
	@$(BIN)/golangci-lint run ./...
	@if compgen -G 'rules/*.y*ml' >/dev/null; then \
	  $(MAKE) --no-print-directory $(BIN)/promtool; \
	  $(call say,promtool check rules); $(BIN)/promtool check rules --lint=all --lint-fatal rules/*.y*ml; fi

.PHONY: fmt
fmt: $(BIN)/gofumpt ## Format all Go code
	@$(BIN)/gofumpt -w $$(find . -name '*.go' -not -path './.build/*')

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (10s)
	@$(call say,fuzzing each target for $(FUZZTIME))
	@FUZZTIME=$(FUZZTIME) tools/fuzz.sh

.PHONY: bench
bench: ## Run the benchmarks into .build/bench.txt (BENCH, BENCHTIME, COUNT); the last run becomes bench.old.txt
	@$(call say,benchmarks)
	@mkdir -p .build; if [ -f .build/bench.txt ]; then mv .build/bench.txt .build/bench.old.txt; fi
	@{ $(GO) test -run TestNone -bench '$(BENCH)' -benchmem -benchtime $(BENCHTIME) -count $(COUNT) ./collector/... ./simulator/...; \
	   $(GO) test ./exporter -run TestNone -bench BenchmarkScrape -benchmem -count $(COUNT); } \
	   | grep -v -e 'no test files' -e '^PASS$$' | tee .build/bench.txt

.PHONY: bench-compare
bench-compare: $(BIN)/benchstat ## Compare .build/bench.old.txt with .build/bench.txt (OLD, NEW)
	@$(BIN)/benchstat $(or $(OLD),.build/bench.old.txt) $(or $(NEW),.build/bench.txt)

.PHONY: figures
figures: ## Print the figures of docs/ledger.md and docs/decisions.md: what the audience saves, bytes per entry, histories
	@$(GO) test -count 1 -v -run 'TestAudience|TestNeverMore|Memory|Bytes' ./collector/lustre/ledger | sed -n 's/^ *[a-z_]*_test.go:[0-9]*: *//p'

.PHONY: samples
samples: build ## Table of the sample files: entries, series, lines, lines unparsed, entries rejected
	@printf '%-42s %8s %8s %8s %9s %9s\n' sample entries series lines unparsed rejected
	@for f in testdata/jobstats/*.txt; do \
	  { ./pfs_exporter check --file "$$f" --lustre.system-users=keep --lustre.malformed=keep || true; } | \
	  awk -v f="$$(basename "$$f")" 'NR == 2 && !/^total/ { line = $$0 } /^$$/ { exit } /^total/ { line = $$0 } END { split(line, c, " +"); printf "%-42s %8s %8s %8s %9s %9s\n", f, c[3], c[4], c[5], c[6], c[7] }'; done

.PHONY: e2e
e2e: build $(BIN)/prometheus $(BIN)/promtool $(BIN)/alertmanager $(BIN)/amtool ## Test the real binary against a real Prometheus
	@$(call say,end to end)
	@$(E2E_ENV) $(GO) test -tags e2e -count 1 $(TESTFLAGS) ./e2e/...
	@$(call say,rules and alerts through promtool)
	@$(E2E_ENV) $(GO) test -count 1 $(TESTFLAGS) ./rules/...

.PHONY: check-deploy
check-deploy: $(BIN)/promtool $(BIN)/amtool ## Check deploy/ with the rules: promtool, amtool, and who gets which alert
	@$(call say,promtool and amtool over deploy/)
	@$(E2E_ENV) tools/check-deploy.sh

.PHONY: demo
demo: build $(BIN)/prometheus $(BIN)/alertmanager ## Watch users cause incidents and alerts name them; needs no Lustre (DEMO_ARGS)
	@$(call say,demo)
	@$(GO_BUILD) -o $(BIN)/demo ./demo
	@exec $(BIN)/demo --exporter=./pfs_exporter --prometheus=$(BIN)/prometheus --alertmanager=$(BIN)/alertmanager $(DEMO_ARGS)

.PHONY: bench-rules
bench-rules: build $(BIN)/prometheus $(BIN)/promtool $(BIN)/alertmanager ## Measure all rules at Puhti's size in a real Prometheus (some 5 minutes)
	@$(call say,rules at Puhti scale)
	@$(E2E_ENV) BENCH_RULES=1 $(GO) test -tags e2e -count 1 -timeout 15m -v -run '^TestBenchRules$$' ./e2e

.PHONY: golden
golden: build $(BIN)/promtool ## Write the golden files anew; read the diff before committing it
	@$(call say,writing golden files)
	@$(E2E_ENV) tools/golden.sh update

.PHONY: golden-check
golden-check: build $(BIN)/promtool ## Check that the golden files are what the code writes
	@$(call say,checking golden files)
	@$(E2E_ENV) tools/golden.sh check

# Cheap and telling first; what needs the large tools (some minutes to build, once) last.
CI_STEPS := vet test golden-check race lint fuzz e2e

.PHONY: ci
ci: ## Everything that CI checks, cheapest first (CI_FUZZTIME, 5s)
	@started=$$SECONDS; for step in $(CI_STEPS); do \
	  from=$$SECONDS; $(MAKE) --no-print-directory $$step FUZZTIME=$${CI_FUZZTIME:-5s} || \
	    { printf '\n==> ci: %s FAILED after %ds\n' $$step $$((SECONDS-from)); exit 1; }; \
	  printf '==> ci: %s ok, %ds\n' $$step $$((SECONDS-from)); \
	done; printf '\n==> ci: all passed in %ds\n' $$((SECONDS-started))

.PHONY: tools
tools: $(TOOLS:%=$(BIN)/%) ## Build the pinned tools into .build/bin

.SECONDEXPANSION:
$(TOOLS:%=$(BIN)/%): $(BIN)/%: $$(or $$(TOOL_MOD_$$*),tools/go.mod)
	@$(call say,building $* (once))
	@mkdir -p $(BIN)
	@tools/progress.sh env $(GO_BUILD) -v -modfile=$< -tags $(TOOL_TAGS) \
	  -ldflags '-s -w -X $(VERSION_PKG).Version=$(or $(TOOL_VERSION_$*),$(PROMETHEUS_VERSION))' -o $@ $(TOOL_$*)
	@touch $@

.PHONY: clean
clean: ## Remove what was built, tools included
	@rm -rf .build pfs_exporter
