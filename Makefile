# make test checks everything. On Debian it installs what the checks need and is missing:
# Chromium, Node, and with npm the type checker and axe-core. Elsewhere what is missing is
# skipped, unless TIDEMARK_REQUIRE_ALL is set. The program itself needs Go alone.
GO ?= go
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
GENERATED = static/dist/* views/*_templ.go
FOLDERS = cluster cmd server static views

.PHONY: test tools check types generate bench run

test: tools check types
	$(GO) test -race -timeout 20m ./...

check:
	@unformatted=$$(gofmt -l $(FOLDERS)); test -z "$$unformatted" || { echo "run gofmt on:" $$unformatted; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	GOOS=js GOARCH=wasm $(GO) build -o /dev/null ./cluster
	$(GO) mod tidy -diff
	@before=$$(cat $(GENERATED) | cksum); $(GO) generate ./... 2>/dev/null || exit 1; \
		test "$$before" = "$$(cat $(GENERATED) | cksum)" || { echo "generated code was not up to date; it is now"; exit 1; }

types:
	@if test -x static/node_modules/.bin/tsc; then static/node_modules/.bin/tsc -p static; \
	elif test -n "$$TIDEMARK_REQUIRE_ALL"; then echo "no TypeScript: npm ci --prefix static"; exit 1; \
	else echo "skipped: the types of the page's code (npm ci --prefix static)"; fi

generate:
	$(GO) generate ./...

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./cluster ./cluster/search ./server ./server/browser

run:
	$(GO) run ./cmd/tidemark

# What is missing after this is reported by whoever needs it.
APT = DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends
tools:
	@if command -v apt-get >/dev/null; then \
		missing=""; \
		command -v chromium >/dev/null || missing="$$missing chromium"; \
		fc-list 2>/dev/null | grep -q "Noto Sans CJK" || missing="$$missing fontconfig fonts-noto-cjk"; \
		command -v node >/dev/null || missing="$$missing nodejs"; \
		command -v npm >/dev/null || missing="$$missing npm"; \
		test -z "$$missing" || { apt-get update -qq && $(APT) $$missing; } || echo "not installed:$$missing"; \
	fi
	@if command -v npm >/dev/null && ! test -d static/node_modules/axe-core; then npm ci --prefix static --no-audit --no-fund --silent || echo "npm could not install what static/package-lock.json names"; fi
