package script

import (
	"encoding/json"
	"io"

	"tidemark/cluster"
	"tidemark/cluster/protocol"
	"tidemark/cluster/trace"
)

// traceFile writes a run as JSON lines: a header with the configuration, then every
// event from the first one, as the page gets them. A rewind is a line of its own; the
// numbers of events go on from the one it names.
type traceFile struct {
	w     io.Writer
	early []trace.Event // from before the cluster was there to name things
	line  []byte
	err   error // the first one; nothing is written after it
}

// traceHeader is the first line.
type traceHeader struct {
	Tidemark   string            `json:"tidemark"` // "trace 1": what this is, and its format's version
	File       string            `json:"file"`
	Kafka      protocol.Line     `json:"kafka"`
	Seed       uint64            `json:"seed"`
	Brokers    []protocol.Broker `json:"brokers"`
	Controller protocol.Broker   `json:"controller"` // 0: the lowest id
	Rules      []string          `json:"rules"`      // as statements, as are the next two
	Settings   []string          `json:"settings"`
	Partitions []string          `json:"partitions"`
}

func (f *traceFile) begin(s *Script, c *cluster.Cluster) {
	cfg := s.Config
	h := traceHeader{
		Tidemark: "trace 1", File: s.File, Kafka: c.Rules().Line, Seed: cfg.Seed, Brokers: cfg.Brokers, Controller: cfg.Controller,
		Rules: []string{}, Settings: []string{}, Partitions: []string{},
	}
	for _, r := range cfg.Rules {
		h.Rules = append(h.Rules, "rule "+r.Name+" "+r.Value)
	}
	for _, x := range cfg.Settings {
		h.Settings = append(h.Settings, x.String())
	}
	for _, x := range cfg.Partitions {
		h.Partitions = append(h.Partitions, x.String())
	}
	f.object(h)
	for i := range f.early {
		f.event(&f.early[i], c)
	}
	f.early = nil
}

func (f *traceFile) event(e *trace.Event, c *cluster.Cluster) {
	if c == nil {
		f.early = append(f.early, *e)
		return
	}
	f.line = append(e.AppendJSON(f.line[:0], c.Names()), '\n')
	f.write()
}

func (f *traceFile) rewound(c *cluster.Cluster) {
	f.object(struct {
		Rewind uint64 `json:"rewind"`
	}{uint64(c.Seq())})
}

func (f *traceFile) object(x any) {
	b, err := json.Marshal(x)
	if err != nil {
		panic("script: trace: " + err.Error()) // a struct of strings and numbers
	}
	f.line = append(b, '\n')
	f.write()
}

func (f *traceFile) write() {
	if f.err == nil {
		_, f.err = f.w.Write(f.line)
	}
}
