# make test installs on Debian what the tests need and is missing, then runs
# everything. TIDEMARK_REQUIRE_ALL=1 turns a missing browser or node into a failure.
GO ?= go
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: test tools generate check
test: tools check
	$(GO) test -race ./...

check:
	@test -z "$$(gofmt -l cluster cmd server views static lessons 2>/dev/null)" || { gofmt -l cluster cmd server views static; echo "run gofmt"; exit 1; }
	$(GO) vet ./...
	GOOS=js GOARCH=wasm $(GO) build -o /dev/null ./cluster
	$(STATICCHECK) ./...
	$(GO) generate ./...
	@git diff --exit-code -- views static || { echo "generated code is not up to date: run make generate and commit"; exit 1; }

generate:
	$(GO) generate ./...

# What the browser tests and the JavaScript tests need, on Debian.
tools:
	@command -v chromium >/dev/null && fc-list 2>/dev/null | grep -qi 'noto.*cjk' || { \
	  command -v apt-get >/dev/null && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk fontconfig; } || \
	  { test -z "$$TIDEMARK_REQUIRE_ALL" || { echo "no chromium and no way to install it"; exit 1; }; }
	@command -v node >/dev/null || { command -v apt-get >/dev/null && apt-get install -y -qq --no-install-recommends nodejs; } || \
	  { test -z "$$TIDEMARK_REQUIRE_ALL" || { echo "no node and no way to install it"; exit 1; }; }
