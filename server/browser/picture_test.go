package browser

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var rewrite = flag.Bool("rewrite", false, "write the pictures in testdata anew")

// tolerance is how much pictures may differ on average, of 255: browsers of different
// versions draw the edges of letters differently.
const tolerance = 4.0

// TestStagePicture takes a picture of the stage at a moment that is the same in every
// run, and compares it with the one in testdata, for a person to review when it changes.
func TestStagePicture(t *testing.T) {
	for name, v := range map[string]view{
		"stage":         {width: 1440, height: 900},
		"stage-zh-dark": {width: 1440, height: 900, dark: true, lang: "zh"},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, v)
			p.begin()
			// Followers have fetched the first record, and their next fetches are on the way.
			p.stepTo(`__tidemark.state().replicas.filter(r => r.values.length === 1 && r.hw === 0).length === 3`)
			p.press(".")
			p.compare(name)
		})
	}
}

// begin starts the cluster again from time 0, paused.
func (p *page) begin() {
	p.t.Helper()
	p.wait("it is connected", `document.getElementById("conn").dataset.state === "live"`)
	p.click("#play")
	p.wait("it is paused", `document.getElementById("conn").dataset.state === "paused"`)
	p.click(`//*[@id="kafkas"]//button[contains(., "2.4")]`)
	p.wait("it has begun again", `__tidemark.state().kafka === "2.4"`)
	p.click(`//*[@id="kafkas"]//button[contains(., "0.10")]`)
	p.wait("it has begun again", `__tidemark.state().kafka === "0.10" && __tidemark.state().records.length === 0`)
}

// stepTo goes from story event to story event until an expression is true.
func (p *page) stepTo(expression string) {
	p.t.Helper()
	for range 200 {
		if eval[bool](p, expression) {
			return
		}
		seq := eval[int](p, `__tidemark.seq()`)
		p.press(">")
		p.wait("the step is taken", fmt.Sprintf(`__tidemark.seq() > %d`, seq))
	}
	p.t.Fatalf("after 200 steps %s is not true", expression)
}

// compare compares what is shown at rest with a picture, or writes that anew.
func (p *page) compare(name string) {
	p.t.Helper()
	p.wait("everything is shown and at rest", `__tidemark.shown().seq === __tidemark.seq() && !__tidemark.awake()`)
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	now, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".png")
	if *rewrite {
		if err := os.WriteFile(path, now, 0o644); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	before, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatalf("%v (go test ./server/browser -rewrite writes it)", err)
	}
	if d := difference255(p.t, before, now); d > tolerance {
		p.keep(name)
		p.t.Errorf("the stage differs from %s by %.1f of 255 on average: look at both (TIDEMARK_SHOTS=DIR keeps this one), and run go test ./server/browser -rewrite if it is meant", path, d)
	}
}

// difference255 is by how much two pictures differ, on average over pixels and colours.
func difference255(t testing.TB, a, b []byte) float64 {
	t.Helper()
	x, y := decodePNG(t, a), decodePNG(t, b)
	if x.Bounds() != y.Bounds() {
		t.Fatalf("the sizes differ: %v and %v", x.Bounds(), y.Bounds())
	}
	sum, r := 0.0, x.Bounds()
	for i := r.Min.Y; i < r.Max.Y; i++ {
		for j := r.Min.X; j < r.Max.X; j++ {
			r1, g1, b1, _ := x.At(j, i).RGBA()
			r2, g2, b2, _ := y.At(j, i).RGBA()
			for _, d := range []int{int(r1) - int(r2), int(g1) - int(g2), int(b1) - int(b2)} {
				sum += float64(max(d, -d)) / 257
			}
		}
	}
	return sum / float64(3*r.Dx()*r.Dy())
}

func decodePNG(t testing.TB, data []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}
