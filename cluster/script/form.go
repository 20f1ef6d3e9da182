package script

import (
	"fmt"
	"slices"
	"strings"
)

// A form is one row of a table: how a statement, condition or event is written.
// In its text, words stand for themselves, a|b for one of them, <hole> for what a
// hole reads (holes.go), and [ ] around what may be left out. What holes, choices
// and left-out parts were read as are its arguments, in order.
type form struct {
	text string
	doc  string
	// prefixNot: "is not" means something else here, so that only not in front negates.
	prefixNot bool
	// check looks at the arguments together. It names the argument that is wrong.
	check func(ctx *Context, args []any) (int, error)

	statement *statement
	condition *condition
	event     *event

	parts []part
}

// part is a piece of a form: a literal, a choice, a hole, or an optional group.
type part struct {
	words []string // one: a literal; several: a choice
	hole  *hole
	group []part
	args  int // arguments that it takes up
}

// compile turns a table's texts into parts. Mistakes in the tables panic.
func compile(forms []form) []*form {
	var l []*form
	for i := range forms {
		f := &forms[i]
		fields := strings.Fields(strings.NewReplacer("[", " [ ", "]", " ] ").Replace(f.text))
		f.parts, fields = compileParts(fields)
		if len(fields) > 0 {
			panic("script: unbalanced brackets in form " + f.text)
		}
		l = append(l, f)
	}
	return l
}

func compileParts(fields []string) ([]part, []string) {
	var parts []part
	for len(fields) > 0 {
		w := fields[0]
		fields = fields[1:]
		switch {
		case w == "]":
			return parts, fields
		case w == "[":
			p := part{}
			p.group, fields = compileParts(fields)
			for _, q := range p.group {
				p.args += q.args
			}
			if p.args == 0 {
				panic("script: an optional part needs a hole")
			}
			parts = append(parts, p)
		case strings.HasPrefix(w, "<"):
			h := holes[strings.Trim(w, "<>")]
			if h == nil {
				panic("script: no hole " + w)
			}
			parts = append(parts, part{hole: h, args: 1})
		case strings.Contains(w, "|"):
			parts = append(parts, part{words: strings.Split(w, "|"), args: 1})
		default:
			parts = append(parts, part{words: []string{w}})
		}
	}
	return parts, nil
}

// phrase is a form that was read, with its arguments.
type phrase struct {
	form *form
	args []any
	not  bool // of a condition
}

// String writes the phrase canonically: reading it gives the same phrase.
func (p phrase) String() string {
	var b strings.Builder
	infix := p.not && p.form.negatable() != nil
	if p.not && !infix {
		b.WriteString("not ")
	}
	args := p.args
	writeParts(&b, p.form.parts, &args, infix)
	return b.String()
}

func writeParts(b *strings.Builder, parts []part, args *[]any, not bool) {
	next := func() any {
		a := (*args)[0]
		*args = (*args)[1:]
		return a
	}
	put := func(s string) {
		if s == "" {
			return
		}
		if b.Len() > 0 && s != "," && !strings.HasSuffix(b.String(), " ") {
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
	for i := range parts {
		p := &parts[i]
		switch {
		case p.group != nil:
			if (*args)[0] == nil {
				*args = (*args)[p.args:]
				continue
			}
			writeParts(b, p.group, args, false)
		case p.hole != nil:
			put(p.hole.write(next()))
		case p.args == 1:
			put(next().(string))
		default:
			put(p.words[0])
		}
		if not && p.verb() {
			put("not")
			not = false
		}
	}
}

// verb reports whether "not" may follow.
func (p *part) verb() bool {
	return len(p.words) == 1 && (p.words[0] == "is" || p.words[0] == "are" || p.words[0] == "has")
}

// negatable is the part of a condition that "not" may follow, or nil.
func (f *form) negatable() *part {
	if f.prefixNot || f.condition == nil {
		return nil
	}
	for i := range f.parts {
		if f.parts[i].verb() {
			return &f.parts[i]
		}
	}
	return nil
}

// parser reads one line.
type parser struct {
	ctx    *Context
	tokens []token
	pos    int

	// What went wrong furthest to the right, over all forms that were tried. A form
	// that got past a name which does not exist counts only up to that name (cap),
	// so that a misspelt keyword is not taken for a producer.
	furthest int
	cap      int
	wants    []string
	words    []string
	// labels say what a whole table reads, by where it was tried.
	labels map[int]string
	// problem is the first complaint about a form that fits but for its sense; soft
	// is one about a form that does not fit either.
	problem, soft *complaint
	// pending is the complaint about the form that is being tried, argsAt where its
	// arguments stand.
	pending *complaint
	argsAt  []int
}

// complaint is about the token at pos. A firm one is about a form that fits beyond
// doubt.
type complaint struct {
	pos     int
	message string
	firm    bool
}

const noCap = 1 << 30

func newParser(ctx *Context, l []token) *parser {
	return &parser{ctx: ctx, tokens: l, cap: noCap, labels: map[int]string{}}
}

func (p *parser) peek() token { return p.tokens[p.pos] }

func (p *parser) take() token {
	t := p.tokens[p.pos]
	if t.kind != end {
		p.pos++
	}
	return t
}

// fail notes that something else was expected here.
func (p *parser) fail(want string, words ...string) bool {
	pos := min(p.pos, p.cap)
	if pos < p.furthest {
		return false
	}
	if pos > p.furthest {
		p.furthest, p.wants, p.words = pos, nil, nil
	}
	if pos == p.pos {
		if want != "" && !slices.Contains(p.wants, want) {
			p.wants = append(p.wants, want)
		}
		for _, w := range words {
			if !slices.Contains(p.words, w) {
				p.words = append(p.words, w)
			}
		}
	}
	return false
}

// complain notes that the token at pos fits the form but makes no sense.
func (p *parser) complain(pos int, message string) {
	p.cap = min(p.cap, pos)
	if p.pending == nil {
		p.pending = &complaint{pos: pos, message: message}
	}
}

// err is the error of the line.
func (p *parser) err() *Error {
	c := p.problem
	if c == nil && len(p.wants)+len(p.words) == 0 {
		c = p.soft
	}
	if c != nil && (c.firm || c.pos >= p.furthest) {
		return &Error{Column: p.tokens[c.pos].column, Message: c.message}
	}
	t := p.tokens[p.furthest]
	label := p.labels[p.furthest]
	var expected []string
	if label != "" {
		expected = []string{label}
	} else {
		expected = slices.Clone(p.wants)
		for _, w := range p.words {
			expected = append(expected, `"`+w+`"`)
		}
	}
	m := "expected " + join(expected) + ", not " + t.String()
	if t.kind == word && len(p.words) > 0 {
		m += fmt.Sprintf("; the nearest valid word is %q", nearest(t.text, p.words))
	}
	return &Error{Column: t.column, Message: m}
}

func join(l []string) string {
	switch len(l) {
	case 0:
		return "something else"
	case 1:
		return l[0]
	}
	return strings.Join(l[:len(l)-1], ", ") + " or " + l[len(l)-1]
}

// phrase reads the first form of a table that fits here.
func (p *parser) phrase(forms []*form, label string) (phrase, bool) {
	start, limit, before, argsAt := p.pos, p.cap, p.pending, p.argsAt
	defer func() { p.argsAt = argsAt }()
	p.labels[start] = label
	for _, f := range forms {
		p.pos, p.cap, p.pending, p.argsAt = start, limit, nil, nil
		ph := phrase{form: f}
		if !p.parts(f, f.parts, &ph) {
			p.soften()
			continue
		}
		// A statement must fill its line; what follows a condition is for others.
		if f.statement != nil && p.peek().kind != end {
			p.fail("the end of the line")
			p.soften()
			continue
		}
		if p.pending == nil && f.check != nil && p.ctx != nil {
			if at, err := f.check(p.ctx, ph.args); err != nil {
				p.pending = &complaint{p.argsAt[at], coreText(err), true}
			}
		}
		if p.pending != nil {
			if p.problem == nil || p.pending.firm && !p.problem.firm {
				p.problem = p.pending
			}
			continue
		}
		p.pending, p.cap = before, limit
		return ph, true
	}
	p.pos, p.cap, p.pending = start, limit, before
	return phrase{}, false
}

// soften keeps the complaint about a form that turned out not to fit.
func (p *parser) soften() {
	if p.pending != nil && (p.soft == nil || p.pending.pos > p.soft.pos) {
		p.soft = p.pending
	}
}

func (p *parser) parts(f *form, parts []part, ph *phrase) bool {
	for i := range parts {
		q := &parts[i]
		switch {
		case q.group != nil:
			p.optional(f, q, ph)
		case q.hole != nil:
			at := p.pos
			v, ok := q.hole.read(p)
			if !ok {
				return false
			}
			ph.args = append(ph.args, v)
			p.argsAt = append(p.argsAt, at)
		default:
			t := p.peek()
			if t.kind == end || t.kind == text || !slices.Contains(q.words, t.text) {
				return p.fail("", q.words...)
			}
			p.take()
			if q.args == 1 {
				ph.args = append(ph.args, t.text)
				p.argsAt = append(p.argsAt, p.pos-1)
			}
			if q == f.negatable() && p.peek().text == "not" && p.peek().kind == word {
				ph.not = true
				p.take()
			}
		}
	}
	return true
}

// optional reads a group, or nothing; a group of which only a part fits is nothing.
func (p *parser) optional(f *form, q *part, ph *phrase) bool {
	start, args := p.pos, len(ph.args)
	if p.parts(f, q.group, ph) {
		return true
	}
	p.pos = start
	ph.args, p.argsAt = ph.args[:args], p.argsAt[:args]
	for range q.args {
		ph.args = append(ph.args, nil)
		p.argsAt = append(p.argsAt, start)
	}
	return false
}
