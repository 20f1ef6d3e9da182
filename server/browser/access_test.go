package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// axe is the script of axe-core, which make tools puts there.
func axe(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "static", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		missing(t, "axe-core is not installed: npm ci --prefix static")
	}
	return string(data)
}

// check fails the test for every violation of the WCAG, levels A and AA.
func (p *page) check(script, where string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script+"; true")); err != nil {
		p.t.Fatal(err)
	}
	type result struct {
		Violations []string `json:"violations"`
		Passes     int      `json:"passes"`
	}
	r := eval[result](p, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}).then(r => ({passes: r.passes.length,
		violations: r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + v.help + ": " + n.html.slice(0, 200) + " (" + n.any.concat(n.all, n.none).map(c => c.message).join("; ") + ")"))}))`)
	for _, v := range r.Violations {
		p.t.Errorf("%s: %s", where, v)
	}
	if r.Passes < 5 {
		p.t.Errorf("%s: axe checked only %d rules", where, r.Passes)
	}
}

// views are the ways in which every page is looked at.
func views() map[string]view {
	all := map[string]view{}
	for _, lang := range []string{"en", "zh"} {
		for scheme, dark := range map[string]bool{"light": false, "dark": true} {
			all["desktop-"+lang+"-"+scheme] = view{width: 1440, height: 900, dark: dark, lang: lang}
			all["phone-"+lang+"-"+scheme] = view{width: 360, height: 740, dark: dark, mobile: true, lang: lang}
		}
	}
	return all
}

// TestEveryView looks at the page in both languages and themes, on a desktop and on a
// phone, at rest, after faults, and with its help open: no violation of the WCAG, and
// nothing to scroll sideways for.
func TestEveryView(t *testing.T) {
	script := axe(t)
	for name, v := range views() {
		t.Run(name, func(t *testing.T) {
			p := open(t, v)
			p.begin()
			p.stepTo(`__tidemark.state().replicas.some(r => r.values.length > 0)`)
			p.look(script, name+"-begun")

			p.faults()
			p.look(script, name+"-faults")

			p.administer()
			p.look(script, name+"-moved")

			p.click("#help-button")
			p.wait("the help is shown", `!document.getElementById("help").hidden`)
			p.look(script, name+"-help")
		})
		t.Run(name+"-gone", func(t *testing.T) {
			p := openAt(t, serve(t), "/c/nobody", v)
			p.look(script, name+"-gone")
		})
	}
}

// look checks what is shown now.
func (p *page) look(script, where string) {
	p.t.Helper()
	p.keep(where)
	p.check(script, where)
	if wide := eval[string](p, `(() => {
		const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
		if (over <= 0) return "";
		const who = [...document.body.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).slice(0, 3);
		return over + " px: " + who.map(e => e.tagName + "." + e.className).join(", ");
	})()`); wide != "" {
		p.t.Errorf("%s is too wide by %s", where, wide)
	}
	if untold := eval[string](p, `[...document.body.innerText.matchAll(/\[[a-z]+\.[a-z.]+\]|\{\w+\}/g)].map(m => m[0]).join(" ")`); untold != "" {
		p.t.Errorf("%s shows the names of texts: %s", where, untold)
	}
}

// faults breaks things: a frozen follower, a cut link, records that were acked and lost
// with a stopped leader.
func (p *page) faults() {
	p.t.Helper()
	for _, statement := range []string{"hold fetches of 2 3", "set P acks 1", "send P 5"} {
		p.statement(statement)
	}
	p.speed("20×")
	p.click("#play")
	p.wait("P is told", `__tidemark.state().records.filter(r => r.fate === "acked").length >= 5`)
	for _, statement := range []string{"stop broker 1", "release fetches of 2 3", "freeze broker 4", "cut 3 - zookeeper", "slow 2 - 3 by 100ms"} {
		p.statement(statement)
	}
	p.wait("broker 2 leads", `__tidemark.state().replicas.some(r => r.broker === "2" && r.role === "leader")`)
	p.click("#play")
	p.wait("it is paused", `document.getElementById("conn").dataset.state === "paused" && __tidemark.shown().seq === __tidemark.seq()`)
}

// administer does what an operator does: a partition on its way to another broker, with a
// slow disk and a message that will be lost.
func (p *page) administer() {
	p.t.Helper()
	for _, statement := range []string{"thaw broker 4", "heal", "start broker 1", "commit R", "slow disk of 3 by 200ms", "drop next fetch 3 -> 2", "reassign topic1-0 to 4 2 3"} {
		p.statement(statement)
	}
	p.click("#play")
	p.wait("broker 4 has a replica", `__tidemark.state().replicas.some(r => r.broker === "4" && r.partition === "topic1-0" && r.values.length > 0)`)
	p.click("#play")
	p.wait("it is paused", `document.getElementById("conn").dataset.state === "paused" && __tidemark.shown().seq === __tidemark.seq()`)
}

// statement executes a statement over a second socket, as another visitor of the same
// cluster would.
func (p *page) statement(text string) {
	p.t.Helper()
	reply := eval[string](p, fmt.Sprintf(`new Promise((done, failed) => {
		const s = new WebSocket(location.origin.replace("http", "ws") + document.getElementById("app").dataset.socket);
		s.onopen = () => s.send(JSON.stringify({op: "do", id: 1, statement: %q}));
		s.onerror = () => failed(new Error("no socket"));
		s.onmessage = (m) => { const f = JSON.parse(m.data); if (f.frame === "result" || f.result || f.id === 1) { s.close(); done(m.data); } };
	})`, text))
	if strings.Contains(reply, `"error"`) {
		p.t.Fatalf("%s: %s", text, reply)
	}
}

// TestKeyboard works the page without a mouse.
func TestKeyboard(t *testing.T) {
	p := open(t, desktop)
	p.wait("it plays", `document.getElementById("conn").dataset.state === "live"`)
	p.press(" ")
	p.wait("it is paused", `document.getElementById("conn").dataset.state === "paused" && __tidemark.shown().seq === __tidemark.seq()`)
	for _, key := range []string{".", ">"} {
		seq := eval[int](p, `__tidemark.seq()`)
		p.press(key)
		p.wait("a step is taken", fmt.Sprintf(`__tidemark.seq() > %d`, seq))
	}
	p.press("]")
	p.wait("it is faster", `document.getElementById("speed-text").textContent !== "1/12×"`)
	p.press("[")
	p.wait("it is slower", `document.getElementById("speed-text").textContent === "1/12×"`)
	p.press("1")
	p.wait("broker 1 has the focus", `document.activeElement.dataset.broker === "1"`)
	p.press("k")
	p.wait("broker 1 is stopped", `document.querySelector("[data-broker='1']").dataset.doing === "down"`)
	p.press("k")
	p.wait("broker 1 runs", `__tidemark.state().brokers.find(b => b.id === "1").state === "up"`)
	p.press("?")
	p.wait("the help is shown", `!document.getElementById("help").hidden`)
}

// TestLanguageKeepsTheState: the other language is there at once, with the same run.
func TestLanguageKeepsTheState(t *testing.T) {
	p := open(t, desktop)
	p.wait("it plays", `document.getElementById("conn").dataset.state === "live" && __tidemark.state().records.length > 0`)
	p.click("#play")
	p.wait("it is paused", `document.getElementById("conn").dataset.state === "paused" && __tidemark.shown().seq === __tidemark.seq()`)
	eval[bool](p, `window.stays = JSON.stringify(__tidemark.state()); true`)
	p.click(button("langs", "中文"))
	p.wait("it is Chinese", `document.documentElement.lang === "zh-Hans" && document.querySelector("h1").textContent.match(/[\u4e00-\u9fff]/) !== null && document.getElementById("caption-text").textContent.match(/[\u4e00-\u9fff]/) !== null`)
	if !eval[bool](p, `window.stays === JSON.stringify(__tidemark.state())`) {
		t.Error("the state has changed")
	}
	p.do(chromedp.Reload())
	p.wait("the language was remembered", `document.documentElement.lang === "zh-Hans" && __tidemark.seq() > 0`)
	p.click(button("langs", "English"))
	p.wait("it is English", `document.documentElement.lang === "en"`)
}
