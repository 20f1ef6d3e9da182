package browser

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// BenchmarkFrame measures the time that the page's code takes for a frame while 200
// messages and more are in flight. An operation is a frame.
func BenchmarkFrame(b *testing.B) {
	p := open(b, desktop)
	p.wait("it plays", `document.getElementById("conn").dataset.state === "live"`)
	p.begin()
	const producers = 20
	for i := range producers {
		p.statement(fmt.Sprintf("producer L%d acks 1 to topic1-%d inflight 10", i, i%2))
		p.statement(fmt.Sprintf("send L%d 1", i)) // so that it knows the leader
	}
	p.speed("1×")
	p.click("#play")
	p.wait("they know their leaders", `__tidemark.shown().records.filter(r => r.producer.startsWith("L") && r.fate === "acked").length === 20`)
	p.speed("1/200×")
	for i := range producers {
		p.statement(fmt.Sprintf("send L%d 10", i))
	}
	p.wait("200 messages are in flight", `__tidemark.shown().messages.length >= 200`)
	eval[bool](p, `(__tidemark.forgetCosts(), true)`)
	frames := `(() => { const c = __tidemark.frameCost(); return [c.frames, c.median, c.p95, __tidemark.shown().messages.length]; })()`
	p.wait("frames were measured", `__tidemark.frameCost().frames >= 240`)
	b.ResetTimer()
	var last []float64
	for range b.N {
		last = eval[[]float64](p, frames)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(last[1], "median-ms")
	b.ReportMetric(last[2], "p95-ms")
	b.ReportMetric(last[3], "messages")
}

// BenchmarkPausedPage measures what a paused page costs: script and all work of its
// main thread in a second.
func BenchmarkPausedPage(b *testing.B) {
	p := open(b, desktop)
	p.wait("it plays", `document.getElementById("conn").dataset.state === "live" && __tidemark.time() > 0`)
	p.click("#play")
	p.wait("it is paused and at rest", `document.getElementById("conn").dataset.state === "paused" && !__tidemark.awake()`)
	before := p.metrics()
	began := time.Now()
	for b.Loop() {
		time.Sleep(2 * time.Second) // what is measured is that nothing happens
	}
	spent := time.Since(began).Seconds()
	after := p.metrics()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric((after["ScriptDuration"]-before["ScriptDuration"])*1000/spent, "script-ms/s")
	b.ReportMetric((after["TaskDuration"]-before["TaskDuration"])*1000/spent, "task-ms/s")
}

// metrics are what the browser has counted of the tab.
func (p *page) metrics() map[string]float64 {
	p.t.Helper()
	values := map[string]float64{}
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, performance.Enable, performance.EnableParams{}); err != nil {
			return err
		}
		r, err := chromedp.Call(ctx, performance.GetMetrics, cdp.Empty{})
		if err != nil {
			return err
		}
		for _, m := range r.Metrics {
			values[m.Name] = m.Value
		}
		return nil
	}))
	return values
}
