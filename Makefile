# Everything a developer does here. `make help` lists the targets.
SHELL      := /bin/bash
GO         ?= go
GOFLAGS    += -buildvcs=false
export GOFLAGS
export CGO_ENABLED ?= 0
FUZZTIME   ?= 30s
# The slowest package first, so that the others are tested beside it.
PKGS       ?= ./sandbox ./...
ARCH       ?= $(if $(filter arm64 aarch64,$(shell uname -m)),arm64,x86_64)
ARCHS      ?= $(ARCH)
VERSION    ?= $(shell git describe --tags --always --dirty 2>/dev/null)
# Without the debugging servers of libraries, which nothing here starts: each links html/template, and with it every
# exported method in the program.
TAGS       := lambda.norpc,grpcnotrace
BUNDLES    := gateway/console/apidocs/bundled/viewer.js.gz

.PHONY: help run build toolchain test test-browser test-alerts test-duckdb test-dynamo check race fuzz bench bench-peers bench-fuel bench-soak bench-flood bench-fleet bench-paused bench-park bench-index bench-bucket bench-append bench-execute bench-cold bench-tokens bench-scale scan-report scan-packages conformance conformance-mcp package image deploy vulncheck fmt clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: build ## build and serve on 127.0.0.1:3000
	@bin/airlock serve

build: toolchain $(BUNDLES) ## bin/airlock, bin/bootstrap and the compiled engine in bin/cache
	@mkdir -p bin
	$(GO) build -trimpath -tags $(TAGS) -ldflags '-s -w -X github.com/airlock-run/airlock/gateway/api.version=$(VERSION)' -o bin/airlock ./gateway/cmd/airlock
	$(GO) build -trimpath -tags $(TAGS) -ldflags '-s -w' -o bin/bootstrap ./functions/lambda
	@bin/bootstrap -fill-cache bin/cache

toolchain:
	@command -v $(GO) >/dev/null || { echo 'Go 1.26 or later is needed: https://go.dev/dl/' >&2; exit 1; }

# The playground's editor and the viewer of /docs, of npm packages that locks pin. A build without them has a plain text
# area in the playground, and a link to openapi.json at /docs. The target is the file that is written last.
$(BUNDLES): $(wildcard gateway/console/bundle/*.go gateway/console/bundle/*/*)
	@$(GO) run -trimpath ./gateway/console/bundle || echo 'the pages go without their editor and viewer; make build tries again'

test: ## every test that needs no cloud account; names the skipped tests, and why, at the end
	$(GO) tool gotestsum --format pkgname -- -timeout 30m $(PKGS)

test-browser: $(BUNDLES) ## the web pages in a real Chromium, which is installed (apt) where there is none, with axe-core and the SDK of agents (npm)
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { apt-get update -qq && apt-get install -y --no-install-recommends chromium; }
	@mkdir -p bin/axe bin/mcp-sdk bin/screenshots
	@test -f bin/axe/axe-core-4.14.1.tgz || npm pack axe-core@4.14.1 --silent --pack-destination bin/axe
	npm install --prefix bin/mcp-sdk --no-audit --no-fund --ignore-scripts @modelcontextprotocol/sdk@1.32.2
	MCP_SDK=$(CURDIR)/bin/mcp-sdk AIRLOCK_SCREENSHOTS=$(CURDIR)/bin/screenshots $(GO) test ./gateway/cmd/airlock/browser -count 1

test-alerts: ## each alert rule over series in which it fires and stays silent, by promtool, which is installed (apt) where there is none
	@command -v promtool >/dev/null || { apt-get update -qq && apt-get install -y --no-install-recommends prometheus; }
	promtool test rules infra/monitoring/alerts_test.yaml

check: ## formatting, vet, linters, sizes, comments, import rules, known vulnerabilities
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'gofmt: the files above are not formatted'; exit 1; }
	$(GO) vet $(PKGS)
	$(GO) tool staticcheck $(PKGS)
	$(GO) tool errcheck -ignoretests -exclude .errcheck $(PKGS)
	$(GO) run ./infra/check
	@$(MAKE) --no-print-directory vulncheck

vulncheck: ## known vulnerabilities, where the database can be reached
	@out=$$($(GO) tool govulncheck $(PKGS) 2>&1); code=$$?; \
	if [ $$code -ne 0 ] && grep -q 'fetching vulnerabilities' <<<"$$out"; then \
		echo 'govulncheck: the vulnerability database cannot be reached from here; nothing was checked'; \
	else printf '%s\n' "$$out"; exit $$code; fi

race: ## the tests under the race detector
	CGO_ENABLED=1 $(GO) test -race -timeout 60m $(PKGS)

fuzz: ## every fuzz target for FUZZTIME
	@for p in $$($(GO) list $(PKGS)); do \
		for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "== $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
		done; \
	done

bench: ## Go benchmarks
	$(GO) test -run '^$$' -bench . -benchmem $(PKGS)

fmt: ## format the code
	gofmt -w $$(git ls-files '*.go')

clean: ## remove what was built
	rm -rf bin dist

bench-peers: build ## compare with isolated-vm and quickjs-emscripten (installs them from npm)
	$(GO) run ./sandbox/peers

bench-engines: ## a small script on other engines, each run in a process of its own (needs Node.js, and jsc for JavaScriptCore)
	$(GO) test ./sandbox -run '^$$' -bench BenchmarkOtherEngine -benchtime 300x

bench-octane: ## how fast guests compute: Octane in both engine builds and in node (OCTANE_DIR: a checkout of chromium/octane)
	$(GO) run ./sandbox/octane $(OCTANE_DIR)

bench-fuel: ## what being interruptible costs, and how late the hostile folder's loops are stopped
	$(GO) test ./sandbox -run '^$$' -bench 'Fuel|Deadline' -benchtime 1x

bench-soak: ## resident memory of gateway and function over 100,000 executions, each of another text
	$(GO) test ./gateway/cmd/airlock/endtoend -run '^$$' -bench Soak -benchtime 1x -timeout 1h

bench-flood: ## how a flood of the worst payloads changes the p99 of another caller, through a gateway process
	$(GO) test ./gateway/cmd/airlock -run '^$$' -bench Flood -benchtime 9x

bench-fleet: ## jobs a second with three gateways on one state, SQLite and Postgres, queries per job, and dollars for a million with DynamoDB and SQS (npm)
	@mkdir -p bin/dynalite bin/fauxqs
	npm install --prefix bin/dynalite --no-audit --no-fund --ignore-scripts dynalite@4.0.0
	npm install --prefix bin/fauxqs --no-audit --no-fund --ignore-scripts fauxqs@1.9.2
	DYNALITE_MODULES=$(CURDIR)/bin/dynalite FAUXQS_MODULES=$(CURDIR)/bin/fauxqs \
		$(GO) test ./gateway/jobs -run '^$$' -bench Fleet -benchtime 3000x -timeout 30m

bench-paused: ## pages of 100,000 paused executions, and a thousand resumed at once, on SQLite and Postgres
	PAUSED_EXECUTIONS=100000 $(GO) test -p 1 ./infra/state/sqlitestate ./infra/state/pgstate -run '^$$' -bench Paused -benchtime 20x -timeout 30m -v

bench-park: ## a script of ten lines that pauses and continues, from memory and from a folder, and steps of sessions relative to fresh executions
	$(GO) test -p 1 ./sandbox ./gateway/cmd/airlock/endtoend -run '^$$' -bench Park -benchtime 300x

bench-scale: ## what an execution costs against the size of its code, input, logs, files and result, and of what is stored
	$(GO) test ./gateway/cmd/airlock -run '^$$' -bench Scale -benchtime 20x -timeout 30m

bench-index: ## an index over a million records: making it, against reading them once; lists, summaries, figures
	AUDITINDEX_RECORDS=1000000 $(GO) test ./infra/records/auditindex -run '^$$' -bench Index -benchtime 5x -timeout 30m

bench-bucket: ## what pages and summaries over records in a bucket cost, in time and requests, with 25 ms for each request
	$(GO) test ./infra/records/auditindex -run '^$$' -bench Bucket -benchtime 5x -timeout 30m

bench-append: ## audit records a second that 64 callers write to a bucket with 25 ms for each PUT, and PUTs for each
	$(GO) test ./infra/records/s3records -run '^$$' -bench Append64 -benchtime 12800x

bench-execute: ## executions a second of 64 connections with function processes of this machine and 25 ms for each PUT of a record
	$(GO) test ./gateway/cmd/airlock -run '^$$' -bench Execute64 -benchtime 12800x -timeout 30m

bench-tokens: ## what models read to do 60 tasks among 10, 100 and 1,000 tools: plain calls against code
	$(GO) test ./gateway/cmd/airlock -run '^$$' -bench Tokens -benchtime 1x

scan-report: ## precision and recall of the threat scan, by category
	$(GO) test ./policy/scan -run ScanReport -v

scan-packages: ## false refusals of well-known npm packages by tier (installs them into bin/packages)
	@mkdir -p bin/packages && cp policy/scan/testdata/packages/package*.json bin/packages/
	npm ci --prefix bin/packages --no-audit --no-fund --ignore-scripts
	SCAN_PACKAGES=$(CURDIR)/bin/packages $(GO) test ./policy/scan -run ScanPackages -v -count 1

conformance: ## test262, the web platform tests and quickjs-ng's own, in the sandbox (TEST262_DIR, WPT_DIR, QUICKJS_DIR: their checkouts; ENGINE_BUILD, FILTER, FAILURES=1, RECORD=folder)
	@$(GO) run ./sandbox/conformance/cmd
	$(GO) test -timeout 60m -run TestParkedConformanceGoesOn ./sandbox

CLIENTS := $(CURDIR)/bin/clients

.PHONY: clients
clients: ## the client packages of dist/clients, built and tested on Node.js, Deno, Bun and Workers (npm) and Python (Debian's python3-httpx)
	@/usr/bin/python3 -c 'import httpx, pydantic' 2>/dev/null || { apt-get update -qq && apt-get install -y --no-install-recommends python3-httpx python3-pydantic; }
	npm ci --prefix gateway/client/typescript --no-audit --no-fund --ignore-scripts
	npm run --prefix gateway/client/typescript build
	@mkdir -p $(CLIENTS) dist/clients
	npm install --prefix $(CLIENTS) --no-audit --no-fund --ignore-scripts deno@2.9.6 bun@1.4.5 workerd@1.20261117.1 pyright@1.1.414 piston-api-client@2.0.1 @e2b/code-interpreter@2.8.0
	@cd $(CLIENTS)/node_modules/bun && node install.js
	@cd $(CLIENTS)/node_modules/workerd && node install.js
	npm pack ./gateway/client/typescript --pack-destination dist/clients
	$(GO) test ./gateway/client/...
	PATH="$(CLIENTS)/node_modules/.bin:$$PATH" CLIENT_MODULES=$(CLIENTS)/node_modules CLIENT_PACKAGES=$(CURDIR)/dist/clients $(GO) test ./gateway/cmd/airlock -run 'TypeScriptClient|PythonClient|ClientQuickStarts|FrameworkAdapters|PublishedClients' -count 1

conformance-mcp: ## the Model Context Protocol's own conformance suite and inspector (installs them from npm)
	@mkdir -p bin/mcp-tools
	npm install --prefix bin/mcp-tools --no-audit --no-fund --ignore-scripts @modelcontextprotocol/conformance@0.1.13 @modelcontextprotocol/inspector@2.12.0
	MCP_TOOLS=$(CURDIR)/bin/mcp-tools $(GO) test ./gateway/cmd/airlock -run 'MCPConformance|MCPInspector' -count 1

test-duckdb: ## that DuckDB reads the records' layouts and computes what the index does (installs it from npm)
	@mkdir -p bin/duckdb
	npm install --prefix bin/duckdb --no-audit --no-fund --ignore-scripts @duckdb/node-api@1.5.6-r.1
	DUCKDB_MODULES=$(CURDIR)/bin/duckdb $(GO) test ./infra/records -run DuckDB -v -count 1

test-dynamo: ## the state in DynamoDB and SQS against dynalite and fauxqs, which speak their protocols (installs both from npm)
	@mkdir -p bin/dynalite
	npm install --prefix bin/dynalite --no-audit --no-fund --ignore-scripts dynalite@4.0.0
	@mkdir -p bin/fauxqs
	npm install --prefix bin/fauxqs --no-audit --no-fund --ignore-scripts fauxqs@1.9.2
	DYNALITE_MODULES=$(CURDIR)/bin/dynalite FAUXQS_MODULES=$(CURDIR)/bin/fauxqs \
		$(GO) test ./infra/state/dynamostate/... ./infra/state/sqsqueue/... ./infra/state/transfer -v -count 1
	DYNALITE_MODULES=$(CURDIR)/bin/dynalite $(GO) test ./gateway ./gateway/cmd/airlock -run 'OnLambda|KilledWhileExecutionsWait/table|SourcesInTables' -v -count 1

package: ## the Lambda zips with the compiled engine inside, each built twice and compared (ARCH: arm64 or x86_64; ARCHS=arm64,x86_64 for both; PACKAGES: a folder of npm packages to put inside)
	$(GO) run ./infra/deploy/pack -twice -arch $(ARCHS) -use $(ARCH) $(if $(PACKAGES),-packages $(PACKAGES))

image: ## the gateway as a container image for amd64 and arm64, an OCI layout in dist/airlock-image.tar; needs no Docker
	$(GO) run ./infra/deploy/pack -image dist/airlock-image.tar -arch x86_64,arm64 -version $(VERSION)

bench-cold: ## fresh processes from the packaged zip to their first answer, in parts
	$(GO) run ./infra/deploy/pack -out dist/cold -arch $(ARCH) -cold 20

.PHONY: sam
sam:
	@command -v sam >/dev/null || { echo 'the SAM CLI is needed: see infra/deploy/README.md' >&2; exit 1; }

deploy: sam package ## deploy the stack of template.yaml (needs the SAM CLI and credentials)
	sam deploy --parameter-overrides Architecture=$(ARCH)
