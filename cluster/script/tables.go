package script

import "slices"

// The tables of the language, made once. They refer to each other through what
// their holes read, hence not as initial values.
var (
	holes                  map[string]*hole
	statementForms         []*form
	conditionForms         []*form
	eventForms             []*form
	eventAndConditionForms []*form

	// reserved are the words that cannot name a client, because a line or a condition
	// can start with them or they would be taken for something else.
	reserved = map[string]bool{"not": true, "seen": true, "never": true, "next": true, "all": true, "acks": true, "disk": true, "any": true}
)

func init() {
	holes = makeHoles()
	conditionForms = compile(makeConditions())
	eventForms = compile(makeEvents())
	eventAndConditionForms = slices.Concat(eventForms, conditionForms)
	statementForms = compile(makeStatements())
	for _, f := range slices.Concat(statementForms, eventAndConditionForms) {
		for _, w := range f.parts[0].words {
			reserved[w] = true
		}
	}
}

// Entry is a line of the language's reference.
type Entry struct {
	Kind string // "statement", "condition", "event" or "hole"
	Form string
	Doc  string
}

// Reference is the language as the parser knows it.
func Reference() []Entry {
	var l []Entry
	for _, table := range []struct {
		kind  string
		forms []*form
	}{{"statement", statementForms}, {"condition", conditionForms}, {"event", eventForms}} {
		for _, f := range table.forms {
			l = append(l, Entry{table.kind, f.text, f.doc})
		}
	}
	names := make([]string, 0, len(holes))
	for name := range holes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		l = append(l, Entry{"hole", "<" + name + ">", holes[name].doc})
	}
	return l
}
