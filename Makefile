# make test runs the checks that a clean checkout passes with Go alone, plus Chromium
# and node where the tests use them; it installs those on Debian when they are missing.
GO ?= go

.PHONY: test tools check generate
test: tools check
	$(GO) test -timeout 10m ./...

check:
	@test -z "$$(gofmt -l cluster cmd server views static)" || { gofmt -l cluster cmd server views static; echo "run gofmt"; exit 1; }
	$(GO) vet ./...
	GOOS=js GOARCH=wasm $(GO) build -o /dev/null ./cluster

generate:
	$(GO) generate ./...

tools:
	@command -v chromium >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk; } || test -z "$$TIDEMARK_REQUIRE_ALL"
	@command -v node >/dev/null || apt-get install -y -qq --no-install-recommends nodejs || test -z "$$TIDEMARK_REQUIRE_ALL"
