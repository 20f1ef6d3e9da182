package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/gorilla/websocket"
)

// The page's own words for what is shown, as expressions.
const (
	shown   = `__tidemark.shown()`
	caption = `document.getElementById("caption-text").textContent`
)

// replica is a condition on the replica of topic1-0 that is shown on a broker.
func replica(broker int, condition string) string {
	return fmt.Sprintf(`%s.replicas.some(r => r.broker === "%d" && r.partition === "topic1-0" && (%s))`, shown, broker, condition)
}

// state is a condition on the state znode of topic1-0 that is shown.
func state(condition string) string {
	return fmt.Sprintf(`%s.znodes.some(z => { if (!z.path.endsWith("/topic1/partitions/0/state")) return false; const s = JSON.parse(z.data); return %s; })`, shown, condition)
}

// told is a condition on all records of P that are shown.
func told(count int, fate string) string {
	return fmt.Sprintf(`%s.records.filter(r => r.producer === "P" && r.fate === %q).length === %d`, shown, fate, count)
}

// speed clicks until the speed is the one wanted.
func (p *page) speed(want string) {
	p.t.Helper()
	for range 40 {
		now := eval[string](p, `document.getElementById("speed-text").textContent`)
		if now == want {
			return
		}
		rank := `[...document.querySelectorAll("#speed")].map(x => Number(x.value))[0]`
		if eval[int](p, rank) < speeds[want] {
			p.click("#faster")
		} else {
			p.click("#slower")
		}
		p.wait("the speed changes", fmt.Sprintf(`document.getElementById("speed-text").textContent !== %q`, now))
	}
	p.t.Fatalf("no speed %s", want)
}

// speeds are places on the slider.
var speeds = map[string]int{"1/200×": 2, "1/12×": 6, "1×": 9, "20×": 13}

// TestNewcomersStory is what somebody sees who opens the page for the first time, sends
// records, and stops the broker that has them.
func TestNewcomersStory(t *testing.T) {
	p := open(t, desktop)
	p.wait("the cluster is connected and plays", `document.getElementById("conn").dataset.state === "live" && document.querySelectorAll("#stage .broker").length === 4`)

	t.Log("the article's picture")
	for what, expression := range map[string]string{
		"broker 1 leads topic1-0":            replica(1, `r.role === "leader"`),
		"broker 2 follows it":                replica(2, `r.role === "follower" && r.leader === 1`),
		"broker 3 follows it":                replica(3, `r.role === "follower" && r.leader === 1`),
		"broker 4 leads topic1-1":            shown + `.replicas.some(r => r.broker === "4" && r.partition === "topic1-1" && r.role === "leader")`,
		"six replicas are drawn":             `document.querySelectorAll("#stage .plate").length === 6`,
		"all are in their ISR":               `document.querySelectorAll("#stage .plate[data-isr=in]").length === 6`,
		"the crown is on broker 4":           `[...document.querySelectorAll("#stage .broker")].filter(b => b.querySelector(".crown").style.display !== "none").map(b => b.dataset.broker).join() === "4"`,
		"ZooKeeper knows four brokers":       `document.querySelectorAll("#stage .zookeeper .znode.id").length === 4`,
		"there is a producer and a consumer": `document.querySelectorAll("#stage .clients .client").length >= 2`,
		"the era is 0.10":                    `document.querySelector("#kafkas [aria-pressed=true]").textContent.includes("0.10")`,
		"time passes":                        `__tidemark.time() > 0`,
	} {
		p.wait(what, expression)
	}

	t.Log("it is running: records are appended, copied, committed, acknowledged and read")
	p.wait("P has sent", shown+`.records.some(r => r.producer === "P")`)
	p.wait("messages are flying", shown+`.messages.some(m => m.what === "fetch_answer")`)
	p.wait("a record was read", shown+`.readers.some(r => r.node === "R" && r.read.length > 0)`)
	p.speed("1×")
	for _, producer := range []string{"Q → topic1-1", "P → topic1-0"} {
		p.click(button("send-producer", producer))
		p.click("#stream")
		p.wait("the stream ends", `document.getElementById("stream").getAttribute("aria-pressed") === "false"`)
	}
	p.wait("everything is acknowledged and committed everywhere", shown+`.records.every(r => r.fate === "acked") && `+shown+`.replicas.every(r => r.hw === r.values.length)`)
	before := eval[int](p, shown+`.records.filter(r => r.producer === "P").length`)

	t.Log("one record, acks=all")
	p.speed("1/12×")
	p.click(button("send-acks", "all"))
	p.wait("P sends with acks=all", shown+`.producers.find(x => x.node === "P").acks === -1`)
	p.click("#send")
	p.wait("the record is in the leader's log and not committed yet", replica(1, fmt.Sprintf(`r.values.length === %d && r.hw === %d`, before+1, before)))
	p.wait("it is in the followers' logs and not committed yet", replica(2, fmt.Sprintf(`r.values.length === %d && r.hw === %d`, before+1, before)))
	p.keep("produce")
	p.wait("HW rises on the leader", replica(1, fmt.Sprintf(`r.hw === %d`, before+1)))
	p.wait("the followers do not know yet", replica(2, fmt.Sprintf(`r.hw === %d`, before)))
	p.wait("P is told", told(before+1, "acked"))
	p.speed("1×")
	p.wait("HW rises on the followers, a round later", replica(2, fmt.Sprintf(`r.hw === %d`, before+1))+" && "+replica(3, fmt.Sprintf(`r.hw === %d`, before+1)))
	p.wait("the consumer has read it", fmt.Sprintf(shown+`.readers.some(r => r.node === "R" && r.read.length === %d)`, before+1))

	t.Log("a burst with acks=1 that the followers have no time to fetch")
	p.click("#play")
	p.wait("it is paused", `document.getElementById("conn").textContent.includes("paused")`)
	for _, b := range []string{"2", "3"} {
		p.click(button("break-broker", b))
		p.click(button("break-actions", "Hold its fetches"))
		p.wait("its fetches are held", fmt.Sprintf(`document.querySelector("[data-broker='%s'] .chip.held") !== null`, b))
	}
	p.click(button("send-acks", "1"))
	p.click(button("send-count", "5"))
	p.click(`//button[normalize-space()="Send 5"]`)
	p.click("#play")
	p.wait("P is told success of all", told(before+6, "acked"))
	p.click(`[data-broker="1"] .power`)
	p.wait("broker 1 is stopped, its session lives", `document.querySelector("[data-broker='1']").dataset.doing === "down" && document.querySelector("[data-broker='1'] .card-sub").textContent.includes("session ends in")`)
	p.keep("stopped")
	p.wait("the session has run out", shown+`.sessions.every(s => s.node !== "1")`)
	p.wait("the controller has elected broker 2", state(`s.leader === 2 && s.leader_epoch === 1`))
	p.wait("broker 2 leads", replica(2, `r.role === "leader" && r.epoch === 1`))
	p.wait("broker 3 follows it", replica(3, `r.role === "follower" && r.leader === 2`))
	for _, b := range []string{"2", "3"} {
		p.click(button("break-broker", b))
		p.click(button("break-actions", "Hold its fetches"))
	}
	p.wait("records that were acked are missing", `document.querySelectorAll("#stage .rec.lost").length === 4`)
	p.keep("lost")

	t.Log("broker 1 comes back")
	p.click(`[data-broker="1"] .power`)
	p.wait("the truncation is told", `document.getElementById("events").textContent.includes("Broker 1 cuts its log of topic1-0 back to its high watermark")`)
	p.speed("20×")
	p.wait("broker 1 has truncated to its HW", replica(1, `r.role === "follower" && r.leader === 2 && r.values.length < `+fmt.Sprint(before+6)))
	p.wait("it is back in the ISR", state(`s.leader === 2 && [1,2,3].every(b => s.isr.includes(b))`))
	p.wait("the log of 1 is the log of 2", shown+`.replicas.filter(r => r.partition === "topic1-0" && JSON.stringify(r.values) === JSON.stringify(`+shown+`.replicas.find(r => r.broker === "2" && r.partition === "topic1-0").values)).length === 3`)

	p.keep("rejoined")

	t.Log("the other era")
	p.click(`//*[@id="kafkas"]//button[contains(., "2.4")]`)
	p.wait("a cluster of Kafka 2.4 has begun", `__tidemark.state().kafka === "2.4" && document.querySelector("#kafkas [aria-pressed=true]").textContent.includes("2.4")`)
	p.wait("nothing is left of the old one", replica(1, `r.role === "leader" && r.epoch === 0`)+` && document.querySelectorAll("#stage .rec.lost").length === 0`)
	p.wait("the list of lines has the focus", `(document.querySelector("#kafkas select").focus(), true)`)
	p.press(kb.End)
	p.wait("a cluster of another line has begun", `__tidemark.state().kafka === "2.1" && document.querySelector("#kafkas select").value === "2.1"`)
}

// TestPageIsTheCluster: after sends, stops and starts the state that the page has folded
// from the event stream is the server's, at the same event.
func TestPageIsTheCluster(t *testing.T) {
	p := open(t, desktop)
	p.wait("it plays", `document.getElementById("conn").dataset.state === "live"`)
	p.speed("20×")
	p.click(button("send-count", "5"))
	for round, x := range []struct{ click, until string }{
		{"#send", shown + `.records.length >= 5`},
		{"#stream", shown + `.records.length >= 20`},
		{`[data-broker="1"] .power`, state(`s.leader === 2`)},
		{"#send", shown + `.records.filter(r => r.fate === "acked").length >= 20`},
		{`[data-broker="4"] .power`, shown + `.znodes.some(z => z.path === "/controller" && JSON.parse(z.data).brokerid !== 4)`},
		{`[data-broker="1"] .power`, state(`s.isr.includes(1)`)},
		{`[data-broker="4"] .power`, shown + `.sessions.length === 4`},
	} {
		p.click(x.click)
		p.wait(fmt.Sprintf("round %d is over", round), x.until)
		p.click("#play")
		p.wait("it is paused", `document.getElementById("play").getAttribute("aria-label") === "Play"`)
		seq, want := p.snapshot()
		p.wait("the page has heard of everything", fmt.Sprintf(`__tidemark.seq() === %d && __tidemark.shown().seq === %d`, seq, seq))
		for _, which := range []string{"state", "shown"} {
			got := decode(t, []byte(eval[string](p, `JSON.stringify(__tidemark.`+which+`())`)))
			delete(got, "time") // it passes without events, too
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("round %d, event %d: the page's %s differs from the server's in %s", round, seq, which, difference(got, want))
			}
		}
		p.click("#play")
		p.wait("it plays", `document.getElementById("play").getAttribute("aria-label") === "Pause"`)
	}
}

// snapshot asks the server for the state of the page's cluster over a socket of its own.
func (p *page) snapshot() (seq int, state map[string]any) {
	p.t.Helper()
	path := eval[string](p, `document.getElementById("app").dataset.socket`)
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(p.host, "http")+path, http.Header{"Origin": {p.host}})
	if err != nil {
		p.t.Fatal(err)
	}
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(patience))
	for {
		_, data, err := conn.ReadMessage()
		if err != nil {
			p.t.Fatal(err)
		}
		frame := decode(p.t, data)
		if s, ok := frame["snapshot"].(map[string]any); ok {
			n, _ := s["seq"].(json.Number).Int64()
			delete(s, "time")
			return int(n), s
		}
	}
}

func decode(t testing.TB, data []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// difference names the parts in which two states differ.
func difference(a, b map[string]any) string {
	var l []string
	for k := range b {
		if !reflect.DeepEqual(a[k], b[k]) {
			l = append(l, fmt.Sprintf("%s: %v, not %v", k, a[k], b[k]))
		}
	}
	return strings.Join(l, "; ")
}
