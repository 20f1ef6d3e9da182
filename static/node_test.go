package static_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tidemark/static"
)

// TestPage runs the tests of the page's own code, test/*.test.ts, with Node. They are
// bundled as the page is; no package is installed.
func TestPage(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("TIDEMARK_REQUIRE_ALL") != "" {
			t.Fatal("node is not installed")
		}
		t.Skip("node is not installed: the page's own tests do not run")
	}
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", "./bundle", "-o", filepath.Join(dir, "tests"), "-node", "test/*.test.ts").CombinedOutput(); err != nil {
		t.Fatalf("bundling the tests: %v\n%s", err, out)
	}
	fixtures := filepath.Join(dir, "fixtures")
	if err := os.Mkdir(fixtures, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFixtures(t, fixtures)
	tests, err := filepath.Glob(filepath.Join(dir, "tests", "*.mjs"))
	if err != nil || len(tests) == 0 {
		t.Fatalf("no tests were bundled: %v", err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, append([]string{"--test", "--enable-source-maps"}, tests...)...)
	cmd.Env = append(os.Environ(), "TIDEMARK_FIXTURES="+fixtures, "TIDEMARK_STATIC="+here)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// TestCatalogueTexts checks the accessor; that the catalogues agree is checked in test/i18n.test.ts.
func TestCatalogueTexts(t *testing.T) {
	for _, c := range []struct{ lang, key, want string }{
		{"en", "app.name", "Tidemark"},
		{"zh", "app.name", "潮痕"},
		{"de", "app.name", "Tidemark"},
		{"en", "no.such.key", "[no.such.key]"},
	} {
		if got := static.Text(c.lang, c.key); got != c.want {
			t.Errorf("Text(%q, %q) = %q, want %q", c.lang, c.key, got, c.want)
		}
	}
	if n := len(static.Keys("zh")); n < 100 || n != len(static.Keys("en")) {
		t.Errorf("%d keys in zh, %d in en", n, len(static.Keys("en")))
	}
}
