package browser

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"tidemark/server"
)

// patience bounds every wait.
const patience = 60 * time.Second

// missing skips a test, or fails it where everything has to be there.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("TIDEMARK_REQUIRE_ALL") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// chromium is the one browser of all tests; each test has a tab in a profile of its own.
var chromium = sync.OnceValues(func() (context.Context, error) {
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		return nil, errors.New("Chromium is not installed")
	}
	allocator, _ := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true))...)
	ctx, _ := chromedp.NewContext(allocator)
	return ctx, chromedp.Do(ctx)
})

func TestMain(m *testing.M) {
	status := m.Run()
	if ctx, err := chromium(); err == nil {
		chromedp.Cancel(ctx)
	}
	os.Exit(status)
}

// serve serves the application on the loopback, and returns its address.
func serve(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	app := server.New(server.Config{Version: "test"})
	web := &http.Server{Handler: app}
	go web.Serve(listener)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := errors.Join(app.Close(ctx), web.Shutdown(ctx)); err != nil {
			t.Error("the server did not end in good order: ", err)
		}
	})
	return "http://" + listener.Addr().String()
}

// page is a tab. What goes wrong in it fails the test.
type page struct {
	t    testing.TB
	ctx  context.Context
	host string
}

// view is how a visitor looks at the page.
type view struct {
	width, height int64
	dark, mobile  bool
	lang          string // of the address; empty: English
}

var desktop = view{width: 1600, height: 960}

// open opens the start page of a new server in a new profile.
func open(t testing.TB, v view) *page {
	t.Helper()
	return openAt(t, serve(t), "/", v)
}

func openAt(t testing.TB, host, path string, v view) *page {
	t.Helper()
	root, err := chromium()
	if err != nil {
		missing(t, err.Error())
	}
	tab, closeTab := chromedp.NewContext(root, chromedp.WithNewBrowserContext())
	ctx, cancel := context.WithTimeout(tab, 5*patience)
	p := &page{t: t, ctx: ctx, host: host}
	messages := chromedp.Console(ctx)
	var complaints []string
	read := make(chan struct{})
	go func() {
		defer close(read)
		for m, err := range messages {
			if err != nil {
				return
			}
			if gone := m.URL == host+path+language(v) && strings.Contains(m.Text, "404"); gone {
				continue // the page itself says so
			}
			if m.IsException() || m.Type == "error" || m.Type == "warning" {
				complaints = append(complaints, m.String())
			}
		}
	}()
	t.Cleanup(func() {
		if t.Failed() {
			p.keep("failed-" + strings.ReplaceAll(t.Name(), "/", "-"))
		}
		cancel()
		closeTab()
		<-read
		for _, c := range complaints {
			t.Errorf("the browser complained: %s", c)
		}
	})
	emulate := []chromedp.Action[chromedp.Void]{chromedp.EmulateViewport(v.width, v.height, mobile(v)), scheme(v)}
	p.do(append(emulate, chromedp.Navigate(host+path+language(v)))...)
	return p
}

// do does things in the tab.
func (p *page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// eval evaluates an expression in the page.
func eval[T any](p *page, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// wait waits until an expression is true in the page.
func (p *page) wait(what, expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience+5*time.Second)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](expression, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(patience))); err != nil {
		p.t.Fatalf("waited in vain until %s (%s): %v\nthe story:\n%s", what, expression, err, p.story())
	}
}

// story is what the page's list of events says, for a test that failed.
func (p *page) story() string {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.getElementById("events")?.innerText ?? ""`))
	return text
}

// click clicks with the mouse on the one visible element that a selector names.
func (p *page) click(selector string) {
	p.t.Helper()
	p.do(chromedp.ScrollIntoView(selector, chromedp.NodeVisible), chromedp.Click(selector, chromedp.NodeVisible))
}

// button is the XPath of the button with a text, within the element with an id.
func button(within, text string) string {
	return fmt.Sprintf(`//*[@id=%q]//button[normalize-space()=%q]`, within, text)
}

// press types a key.
func (p *page) press(key string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(key))
}

// keep writes a picture of the page where a person can look at it: into the folder that
// TIDEMARK_SHOTS names.
func (p *page) keep(name string) {
	dir := os.Getenv("TIDEMARK_SHOTS")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(dir+"/"+name+".png", png, 0o644)
	}
	if err != nil {
		p.t.Logf("no picture %s: %v", name, err)
	}
}
