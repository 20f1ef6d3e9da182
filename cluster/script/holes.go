package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tidemark/cluster"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// A hole is what can stand in a form where no word is fixed: how it is read and
// written.
type hole struct {
	doc   string
	read  func(p *parser) (any, bool)
	write func(any) string
}

// makeHoles lists the holes. Each yields values of one type, named here.
func makeHoles() map[string]*hole {
	return map[string]*hole{
		"broker":           {"a broker's id", readBroker, writeBroker}, // protocol.Broker
		"id":               {"a broker's id, not checked against the brokers", readID, writeBroker},
		"some":             {"broker and its id, or any broker", readSome, writeSome},
		"brokers":          {"one or more broker ids", readBrokers, writeBrokers},                                                                                      // []protocol.Broker
		"assignment":       {"broker ids in an order that matters", readAssignment, writeBrokers},                                                                      // []protocol.Broker, not checked against the brokers
		"partition":        {"a partition, such as topic1-0", readPartition(true), writeString},                                                                        // protocol.TopicPartition
		"new":              {"the partition to create", readPartition(false), writeString},                                                                             // protocol.TopicPartition
		"producer":         {"a producer's name", readName("producer"), writeText},                                                                                     // string
		"reader":           {"a reader's name", readName("reader"), writeText},                                                                                         // string
		"client":           {"a producer's or a reader's name", readName("client"), writeText},                                                                         // string
		"name":             {"a name: a letter, then letters, digits and _", readNewName, writeText},                                                                   // string
		"link":             {"two nodes with - (both ways) or -> (one way) between", readLink, writeLink},                                                              // cluster.Link
		"message":          {"a kind of message, such as fetch or leader_and_isr", readMessage, writeString},                                                           // protocol.MessageKind
		"value":            {"a record's value in double quotes", readValue, writeQuoted},                                                                              // string
		"values":           {"one or more record values", readValues, writeValues},                                                                                     // []string
		"number":           {"a whole number", readNumber(1 << 40), writeInt},                                                                                          // int
		"count":            {fmt.Sprintf("a whole number from 1 to %d", MaxRecordsPerSend), readCount(MaxRecordsPerSend), writeInt},                                    // int
		"steps":            {fmt.Sprintf("a whole number from 1 to %d", MaxSteps), readCount(MaxSteps), writeInt},                                                      // int
		"bound":            {"a number, >= and a number, or <= and a number", readBound, writeBound},                                                                   // bound
		"delay":            {"under, over, >= or <= and a duration", readDelay, writeDelay},                                                                            // bound, of microseconds
		"share":            {"a number, >= or <= and a number, with %", readShare, writeShare},                                                                         // bound
		"duration":         {"a duration such as 500ms; units us ms s m", readDuration(1), writeDuration},                                                              // sim.Time
		"extra":            {"a duration, which may be 0ms", readDuration(0), writeDuration},                                                                           // sim.Time
		"acks":             {"0, 1 or all", readAcks, writeAcks},                                                                                                       // int8
		"key":              {"a configuration key", readAnyWord("a configuration key", settingKeys), writeText},                                                        // string
		"topic":            {"a topic's name", readTopic, writeText},                                                                                                   // string
		"setting":          {"the value of a setting", readAnyWord("a value", nil), writeText},                                                                         // string
		"rule":             {"a rule's name", readAnyWord("a rule's name", ruleNames), writeText},                                                                      // string
		"choice":           {"one of a rule's values", readAnyWord("a rule's value", nil), writeText},                                                                  // string
		"line":             {"a release line of Kafka", readAnyWord("a release line", lineNames), writeText},                                                           // string
		"seed":             {"a whole number", readSeed, writeUint},                                                                                                    // uint64
		"error":            {"the name of one of Kafka's errors", readError, writeString},                                                                              // protocol.Error
		"mark":             {"a mark's name in double quotes", readMark(true), writeQuoted},                                                                            // string
		"newmark":          {"a mark's name in double quotes", readMark(false), writeQuoted},                                                                           // string
		"producer-options": {"retries <number>, timeout <duration>, inflight <number>, idempotent; in any order", readProducerOptions, writeProducerOptions},           // producerOptions
		"reader-options":   {"from <number>, reset earliest|latest|none, manual; in any order", readReaderOptions, writeReaderOptions},                                 // readerOptions
		"conditions":       {"one or more conditions with and between", readConditions, writeConditions},                                                               // []phrase
		"event":            {"an event", readEvent, writeString},                                                                                                       // phrase
		"sequence":         {"events or conditions: and between what is true at the same instant, then between what comes after another", readSequence, writeSequence}, // [][]phrase
		"rest":             {"anything", readRest, writeText},                                                                                                          // string
	}
}

func writeText(v any) string   { return v.(string) }
func writeString(v any) string { return fmt.Sprint(v) }
func writeInt(v any) string    { return strconv.Itoa(v.(int)) }
func writeUint(v any) string   { return strconv.FormatUint(v.(uint64), 10) }
func writeQuoted(v any) string { return `"` + v.(string) + `"` }

// parseBroker reads the digits of a broker id.
func parseBroker(s string) (protocol.Broker, bool) {
	if s == "" || len(s) > 5 || s[0] == '0' || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return protocol.Broker(n), err == nil && n < 1<<15
}

func readBroker(p *parser) (any, bool) {
	t := p.peek()
	b, ok := parseBroker(t.text)
	if t.kind != word || !ok {
		var names []string
		if p.ctx != nil {
			names = p.ctx.brokerNames()
		}
		return nil, p.fail("a broker's id", names...)
	}
	if p.ctx != nil && !slices.Contains(p.ctx.brokers, b) {
		p.complain(p.pos, missing("broker", t.text, p.ctx.brokerNames()))
	}
	p.take()
	return b, true
}

func readID(p *parser) (any, bool) {
	t := p.peek()
	b, ok := parseBroker(t.text)
	if t.kind != word || !ok {
		return nil, p.fail("a broker's id")
	}
	p.take()
	return b, true
}

func writeBroker(v any) string { return strconv.Itoa(int(v.(protocol.Broker))) }

func readBrokers(p *parser) (any, bool) {
	var l []protocol.Broker
	for {
		t := p.peek()
		if _, ok := parseBroker(t.text); len(l) > 0 && (t.kind != word || !ok) {
			p.fail("a broker's id")
			return l, true
		}
		b, ok := readBroker(p)
		if !ok {
			return nil, false
		}
		if slices.Contains(l, b.(protocol.Broker)) {
			p.complain(p.pos-1, "broker "+t.text+" is named twice")
		}
		l = append(l, b.(protocol.Broker))
	}
}

func readAssignment(p *parser) (any, bool) {
	var l []protocol.Broker
	for {
		t := p.peek()
		b, ok := parseBroker(t.text)
		switch {
		case t.kind == word && ok && b > protocol.MaxBrokers:
			p.complain(p.pos, fmt.Sprintf("broker ids are 1 to %d", protocol.MaxBrokers))
		case t.kind == word && ok && slices.Contains(l, b):
			p.complain(p.pos, "broker "+t.text+" is named twice")
		case t.kind == word && ok:
		case len(l) > 0:
			p.fail("a broker's id")
			return l, true
		default:
			return nil, p.fail("a broker's id")
		}
		p.take()
		l = append(l, b)
	}
}

func writeBrokers(v any) string {
	var s []string
	for _, b := range v.([]protocol.Broker) {
		s = append(s, strconv.Itoa(int(b)))
	}
	return strings.Join(s, " ")
}

func readPartition(old bool) func(*parser) (any, bool) {
	return func(p *parser) (any, bool) {
		t := p.peek()
		tp, err := protocol.ParseTopicPartition(t.text)
		if t.kind != word || err != nil {
			var names []string
			if p.ctx != nil && old {
				names = p.ctx.partitionNames()
			}
			return nil, p.fail("a partition", names...)
		}
		if p.ctx != nil && old {
			if _, ok := p.ctx.partition(tp); !ok {
				p.fail("a partition", p.ctx.partitionNames()...)
				p.complain(p.pos, missing("partition", t.text, p.ctx.partitionNames()))
			}
		}
		if utf8.RuneCountInString(tp.Topic) > MaxNameRunes {
			p.complain(p.pos, fmt.Sprintf("a topic's name has at most %d characters", MaxNameRunes))
		}
		p.take()
		return tp, true
	}
}

// isName reports whether a word can be the name of a client.
func isName(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) || r == utf8.RuneError {
			return false
		}
	}
	return s != "" && s != "_"
}

func readName(what string) func(*parser) (any, bool) {
	return func(p *parser) (any, bool) {
		t := p.peek()
		var names []string
		if p.ctx != nil {
			if what != "reader" {
				names = append(names, p.ctx.producers...)
			}
			if what != "producer" {
				names = append(names, p.ctx.readers...)
			}
		}
		if t.kind != word || !isName(t.text) || reserved[t.text] {
			return nil, p.fail("a "+what, names...)
		}
		if p.ctx != nil && !slices.Contains(names, t.text) {
			p.fail("a "+what, names...)
			p.complain(p.pos, missing(what, t.text, names))
		}
		p.take()
		return t.text, true
	}
}

func readNewName(p *parser) (any, bool) {
	t := p.peek()
	if t.kind != word || !isName(t.text) {
		return nil, p.fail("a name")
	}
	if utf8.RuneCountInString(t.text) > MaxNameRunes {
		p.complain(p.pos, fmt.Sprintf("a name has at most %d characters", MaxNameRunes))
	}
	if reserved[t.text] {
		p.complain(p.pos, fmt.Sprintf("%q is a word of the language and cannot be a name", t.text))
	}
	p.take()
	return t.text, true
}

func readLink(p *parser) (any, bool) {
	from, ok := readNode(p)
	if !ok {
		return nil, false
	}
	t := p.peek()
	if t.kind != word || t.text != "-" && t.text != "->" {
		return nil, p.fail("", "-", "->")
	}
	p.take()
	at := p.pos
	to, ok := readNode(p)
	if !ok {
		return nil, false
	}
	if from == to {
		p.complain(at, "a link is between two different nodes")
	}
	return cluster.Link{From: from, To: to, Both: t.text == "-"}, true
}

func readNode(p *parser) (string, bool) {
	t := p.peek()
	_, id := parseBroker(t.text)
	zk := t.text == "zookeeper" || t.text == "zk"
	var names []string
	if p.ctx != nil {
		names = p.ctx.nodeNames()
	}
	if t.kind != word || !id && !zk && (!isName(t.text) || reserved[t.text]) {
		return "", p.fail("a node", names...)
	}
	if p.ctx != nil && !slices.Contains(names, t.text) {
		p.complain(p.pos, missing("node", t.text, names))
	}
	p.take()
	if zk {
		return "zookeeper", true
	}
	return t.text, true
}

func writeLink(v any) string { return v.(cluster.Link).String() }

func readMessage(p *parser) (any, bool) {
	t := p.peek()
	var names []string
	for _, k := range protocol.MessageKinds() {
		if names = append(names, k.String()); t.kind == word && t.text == k.String() {
			p.take()
			return k, true
		}
	}
	return nil, p.fail("a kind of message", names...)
}

func readValue(p *parser) (any, bool) {
	t := p.peek()
	if t.kind != text {
		return nil, p.fail("a record's value in double quotes")
	}
	p.take()
	return t.text, true
}

func readValues(p *parser) (any, bool) {
	var l []string
	for {
		if p.peek().kind != text && len(l) > 0 {
			p.fail("a record's value in double quotes")
			return l, true
		}
		v, ok := readValue(p)
		if !ok {
			return nil, false
		}
		l = append(l, v.(string))
		if len(l) > MaxRecordsPerSend {
			p.complain(p.pos-1, fmt.Sprintf("at most %d records can be sent at once", MaxRecordsPerSend))
		}
	}
}

func writeValues(v any) string { return `"` + strings.Join(v.([]string), `" "`) + `"` }

func parseNumber(t token) (int, bool) {
	if t.kind != word || t.text == "" || strings.Trim(t.text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(t.text)
	if err != nil {
		n = 1<<63 - 1 // beyond every limit
	}
	return n, true
}

func readNumber(limit int) func(*parser) (any, bool) {
	return func(p *parser) (any, bool) {
		n, ok := parseNumber(p.peek())
		if !ok {
			return nil, p.fail("a whole number")
		}
		if n > limit {
			p.complain(p.pos, fmt.Sprintf("expected a whole number of at most %d", limit))
		}
		p.take()
		return n, true
	}
}

func readCount(limit int) func(*parser) (any, bool) {
	return func(p *parser) (any, bool) {
		n, ok := parseNumber(p.peek())
		if !ok {
			return nil, p.fail("a whole number")
		}
		if n < 1 || n > limit {
			p.complain(p.pos, fmt.Sprintf("expected a whole number from 1 to %d", limit))
		}
		p.take()
		return n, true
	}
}

// bound is a comparison with a number.
type bound struct {
	op string // "", ">=", "<=", "under" or "over"
	n  int
}

// holds compares.
func (b bound) holds(n int) bool {
	switch b.op {
	case ">=":
		return n >= b.n
	case "<=":
		return n <= b.n
	case "under":
		return n < b.n
	case "over":
		return n > b.n
	}
	return n == b.n
}

func readBound(p *parser) (any, bool) {
	var b bound
	if t := p.peek(); t.kind == word && (t.text == ">=" || t.text == "<=") {
		b.op = t.text
		p.take()
	} else {
		p.fail("", ">=", "<=")
	}
	n, ok := readNumber(1 << 40)(p)
	if !ok {
		return nil, false
	}
	b.n = n.(int)
	return b, true
}

func (b bound) text(n string) string {
	if b.op == "" {
		return n
	}
	return b.op + " " + n
}

func writeBound(v any) string { b := v.(bound); return b.text(strconv.Itoa(b.n)) }

func readDelay(p *parser) (any, bool) {
	t := p.peek()
	if t.kind != word || !slices.Contains([]string{"under", "over", ">=", "<="}, t.text) {
		return nil, p.fail("", "under", "over", ">=", "<=")
	}
	p.take()
	d, ok := readDuration(0)(p)
	if !ok {
		return nil, false
	}
	return bound{t.text, int(d.(sim.Time))}, true
}

func writeDelay(v any) string {
	b := v.(bound)
	return b.text(protocol.FormatDuration(int64(b.n)))
}

func readShare(p *parser) (any, bool) {
	var b bound
	if t := p.peek(); t.kind == word && (t.text == ">=" || t.text == "<=") {
		b.op = t.text
		p.take()
	} else {
		p.fail("", ">=", "<=")
	}
	t := p.peek()
	digits, ok := strings.CutSuffix(t.text, "%")
	n, isNumber := parseNumber(token{t.kind, digits, 0})
	if !ok || !isNumber {
		return nil, p.fail("a share such as 90%")
	}
	if n > 100 {
		p.complain(p.pos, "a share is 0% to 100%")
	}
	p.take()
	b.n = n
	return b, true
}

func writeShare(v any) string { b := v.(bound); return b.text(strconv.Itoa(b.n) + "%") }

func readDuration(least sim.Time) func(*parser) (any, bool) {
	return func(p *parser) (any, bool) {
		t := p.peek()
		us, err := protocol.ParseDuration(t.text)
		if t.kind != word || err != nil {
			return nil, p.fail("a duration such as 500ms (units us ms s m)")
		}
		if us > int64(MaxDuration) || us < int64(least) {
			p.complain(p.pos, "expected a duration of more than 0 and at most a day")
		}
		p.take()
		return sim.Time(us), true
	}
}

func writeDuration(v any) string { return protocol.FormatDuration(int64(v.(sim.Time))) }

func readAcks(p *parser) (any, bool) {
	t := p.peek()
	if t.kind == word {
		for text, acks := range map[string]int8{"0": 0, "1": 1, "all": protocol.AcksAll} {
			if t.text == text {
				p.take()
				return acks, true
			}
		}
	}
	return nil, p.fail("", "0", "1", "all")
}

func writeAcks(v any) string {
	if a := v.(int8); a != protocol.AcksAll {
		return strconv.Itoa(int(a))
	}
	return "all"
}

func settingKeys(*Context) []string {
	var l []string
	for _, s := range protocol.SettingTable {
		l = append(l, s.Key)
	}
	return l
}

func ruleNames(*Context) []string {
	var l []string
	for _, r := range protocol.RuleTable {
		l = append(l, r.Name)
	}
	return l
}

func lineNames(*Context) []string {
	var l []string
	for _, x := range protocol.Lines() {
		l = append(l, string(x))
	}
	return l
}

// readAnyWord reads a word whose sense is checked with the whole form, where names
// has what it can be.
func readAnyWord(want string, names func(*Context) []string) func(*parser) (any, bool) {
	return func(p *parser) (any, bool) {
		t := p.peek()
		var l []string
		if names != nil {
			l = names(p.ctx)
		}
		if t.kind != word {
			return nil, p.fail(want, l...)
		}
		if len(l) > 0 && !slices.Contains(l, t.text) {
			p.fail(want, l...)
			p.complain(p.pos, fmt.Sprintf("there is no %s %s; the nearest valid word is %q", strings.TrimPrefix(want, "a "), t.text, nearest(t.text, l)))
		}
		p.take()
		return t.text, true
	}
}

func readTopic(p *parser) (any, bool) {
	t := p.peek()
	_, err := protocol.ParseTopicPartition(t.text + "-0")
	if t.kind != word || err != nil {
		return nil, p.fail("a topic")
	}
	if p.ctx != nil && !slices.Contains(p.ctx.topics(), t.text) {
		p.fail("a topic", p.ctx.topics()...)
		p.complain(p.pos, missing("topic", t.text, p.ctx.topics()))
	}
	p.take()
	return t.text, true
}

func readSeed(p *parser) (any, bool) {
	t := p.peek()
	n, err := strconv.ParseUint(t.text, 10, 64)
	if t.kind != word || err != nil {
		return nil, p.fail("a whole number")
	}
	p.take()
	return n, true
}

func readError(p *parser) (any, bool) {
	var names []string
	for _, e := range protocol.Errors() {
		names = append(names, e.String())
	}
	t := p.peek()
	e, ok := protocol.ParseError(t.text)
	if t.kind != word || !ok {
		return nil, p.fail("one of Kafka's errors", names...)
	}
	p.take()
	return e, true
}

func readMark(old bool) func(*parser) (any, bool) {
	return func(p *parser) (any, bool) {
		t := p.peek()
		if t.kind != text {
			return nil, p.fail("a mark's name in double quotes")
		}
		if p.ctx != nil && old && p.ctx.marks[t.text] == nil {
			var names []string
			for n := range p.ctx.marks {
				names = append(names, n)
			}
			slices.Sort(names)
			p.complain(p.pos, missing("mark", t.text, names))
		}
		if utf8.RuneCountInString(t.text) > MaxNameRunes {
			p.complain(p.pos, fmt.Sprintf("a mark's name has at most %d characters", MaxNameRunes))
		}
		p.take()
		return t.text, true
	}
}

func readRest(p *parser) (any, bool) {
	if p.peek().kind == end {
		return nil, p.fail("more")
	}
	var l []string
	for t := p.take(); t.kind != end; t = p.take() {
		if t.kind == text {
			t.text = `"` + t.text + `"`
		}
		l = append(l, t.text)
	}
	return strings.Join(l, " "), true
}

// producerOptions and readerOptions are what may follow in any order.
type producerOptions struct {
	retries, inflight int
	timeout           sim.Time
	idempotent        bool
}

func readProducerOptions(p *parser) (any, bool) {
	o := producerOptions{inflight: cluster.DefaultInflight, timeout: cluster.DefaultTimeout}
	seen := map[string]bool{}
	for p.peek().kind == word {
		t, at := p.peek(), p.pos
		if !slices.Contains([]string{"retries", "timeout", "inflight", "idempotent"}, t.text) {
			break
		}
		p.take()
		if seen[t.text] {
			p.complain(at, t.text+" is given twice")
		}
		seen[t.text] = true
		var v any
		ok := true
		switch t.text {
		case "retries":
			if v, ok = readNumber(MaxRetries)(p); ok {
				o.retries = v.(int)
			}
		case "timeout":
			if v, ok = readDuration(1)(p); ok {
				o.timeout = v.(sim.Time)
			}
		case "inflight":
			if v, ok = readCount(MaxInflight)(p); ok {
				o.inflight = v.(int)
			}
		case "idempotent":
			o.idempotent = true
		}
		if !ok {
			return nil, false
		}
	}
	p.fail("", "retries", "timeout", "inflight", "idempotent")
	return o, true
}

func writeProducerOptions(v any) string {
	o := v.(producerOptions)
	var l []string
	if o.retries != 0 {
		l = append(l, "retries "+strconv.Itoa(o.retries))
	}
	if o.timeout != cluster.DefaultTimeout {
		l = append(l, "timeout "+protocol.FormatDuration(int64(o.timeout)))
	}
	if o.inflight != cluster.DefaultInflight {
		l = append(l, "inflight "+strconv.Itoa(o.inflight))
	}
	if o.idempotent {
		l = append(l, "idempotent")
	}
	return strings.Join(l, " ")
}

type readerOptions struct {
	from   protocol.Offset
	reset  string
	manual bool
}

func readReaderOptions(p *parser) (any, bool) {
	o := readerOptions{from: protocol.NoOffset, reset: "latest"}
	seen := map[string]bool{}
	for p.peek().kind == word {
		t, at := p.peek(), p.pos
		if !slices.Contains([]string{"from", "reset", "manual"}, t.text) {
			break
		}
		p.take()
		if seen[t.text] {
			p.complain(at, t.text+" is given twice")
		}
		seen[t.text] = true
		switch t.text {
		case "from":
			v, ok := readNumber(1 << 40)(p)
			if !ok {
				return nil, false
			}
			o.from = protocol.Offset(v.(int))
		case "reset":
			r := p.peek()
			if r.kind != word || !slices.Contains([]string{"earliest", "latest", "none"}, r.text) {
				return nil, p.fail("", "earliest", "latest", "none")
			}
			p.take()
			o.reset = r.text
		case "manual":
			o.manual = true
		}
	}
	p.fail("", "from", "reset", "manual")
	return o, true
}

func writeReaderOptions(v any) string {
	o := v.(readerOptions)
	var l []string
	if o.from != protocol.NoOffset {
		l = append(l, "from "+strconv.FormatInt(int64(o.from), 10))
	}
	if o.reset != "latest" {
		l = append(l, "reset "+o.reset)
	}
	if o.manual {
		l = append(l, "manual")
	}
	return strings.Join(l, " ")
}

// readOne reads a condition, or an event where events may stand.
func readOne(p *parser, forms []*form, label string) (phrase, bool) {
	not := false
	if t := p.peek(); t.kind == word && t.text == "not" {
		not = true
		p.take()
	}
	ph, ok := p.phrase(forms, label)
	if !ok {
		return phrase{}, false
	}
	if not && ph.not {
		p.complain(p.pos-1, "not stands twice in this condition")
	}
	if not && ph.form.event != nil {
		p.complain(p.pos-1, "an event cannot be negated; use never")
	}
	ph.not = ph.not != not
	return ph, true
}

// readAll reads what stands with and between.
func readAll(p *parser, forms []*form, label string) ([]phrase, bool) {
	var l []phrase
	for {
		ph, ok := readOne(p, forms, label)
		if !ok {
			return nil, false
		}
		l = append(l, ph)
		if t := p.peek(); t.kind != word || t.text != "and" {
			p.fail("", "and")
			return l, true
		}
		p.take()
	}
}

func readConditions(p *parser) (any, bool) {
	l, ok := readAll(p, conditionForms, "a condition")
	return l, ok
}

func writeConditions(v any) string { return writePhrases(v.([]phrase)) }

func writePhrases(l []phrase) string {
	var s []string
	for _, ph := range l {
		s = append(s, ph.String())
	}
	return strings.Join(s, " and ")
}

func readEvent(p *parser) (any, bool) {
	ph, ok := p.phrase(eventForms, "an event")
	return ph, ok
}

func readSequence(p *parser) (any, bool) {
	var l [][]phrase
	for {
		all, ok := readAll(p, eventAndConditionForms, "an event or a condition")
		if !ok {
			return nil, false
		}
		l = append(l, all)
		if t := p.peek(); t.kind != word || t.text != "then" {
			p.fail("", "then")
			return l, true
		}
		p.take()
	}
}

func writeSequence(v any) string {
	var s []string
	for _, all := range v.([][]phrase) {
		s = append(s, writePhrases(all))
	}
	return strings.Join(s, " then ")
}
