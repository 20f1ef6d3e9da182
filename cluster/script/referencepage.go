package script

import (
	"fmt"
	"strings"

	"tidemark/cluster/check"
	"tidemark/cluster/protocol"
	"tidemark/cluster/trace"
)

// ReferencePage is the reference of the language and of what can be seen, as Markdown:
// what the tables of the parser, the rules, the settings, the checker and the trace say.
func ReferencePage() string {
	var b strings.Builder
	b.WriteString("# Reference\n\nMade from the code; `go test ./cluster/script -rewrite` writes it anew.\n")
	b.WriteString("\nWords stand for themselves, `a|b` is one of them, `<hole>` is described [below](#holes), and what is in `[ ]` may be left out.\n")
	for _, s := range []struct{ kind, title, intro string }{
		{"statement", "Statements", "One a line; `#` begins a comment. Statements take no virtual time, but for `run`, `step` and `settle`."},
		{"condition", "Conditions", "After `expect` and `run until`; `and` joins them, `not` negates one. `is N`, `is >= N` and `is <= N` compare numbers."},
		{"event", "Events", "After `seen`, `never` and `run until next`."},
		{"hole", "Holes", ""},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		if s.intro != "" {
			b.WriteString(s.intro + "\n\n")
		}
		row(&b, "form", "meaning")
		row(&b, "---", "---")
		for _, e := range Reference() {
			if e.Kind != s.kind {
				continue
			}
			row(&b, "`"+e.Form+"`", e.Doc)
		}
	}
	writeSettings(&b)
	writeRules(&b)
	b.WriteString("\n## Errors\n\nKafka's numbers and names.\n\n")
	row(&b, "number", "name", "a producer may try again")
	row(&b, "---", "---", "---")
	for _, e := range protocol.Errors() {
		row(&b, fmt.Sprint(int16(e)), "`"+e.String()+"`", tick(e.Retriable()))
	}
	b.WriteString("\n## Invariants\n\nChecked after every event. A violation in a line that does not uphold the invariant is Kafka's own, and so is one after an\n" +
		"unclean election, or after records were lost with a disk, unless the invariant is unconditional.\n\n")
	row(&b, "invariant", "statement", "upheld since", "unconditional")
	row(&b, "---", "---", "---", "---")
	for _, i := range check.Invariants {
		since := string(i.Since)
		if since == "" {
			since = string(protocol.Lines()[0])
		}
		row(&b, "`"+i.Name+"`", i.Statement, since, tick(i.Unconditional))
	}
	b.WriteString("\n## The event stream\n\nWhat `tidemark run -trace` writes and the page is sent, a JSON object an event, each with `seq`, `cause`, `time` (virtual microseconds) and `kind`.\n\n")
	row(&b, "kind", "what happened", "fields")
	row(&b, "---", "---", "---")
	for _, k := range trace.Kinds() {
		row(&b, "`"+k.String()+"`", k.Info().Doc, strings.Join(k.Info().Fields(), ", "))
	}
	return b.String()
}

func writeSettings(b *strings.Builder) {
	b.WriteString("\n## Settings\n\nKafka's keys, and four of the world around it. A static one cannot change while the cluster runs.\n\n")
	row(b, "key", "default", "for one topic", "static", "meaning")
	row(b, "---", "---", "---", "---", "---")
	for _, k := range protocol.SettingTable {
		value := k.Default
		if value == "" {
			value = "by line"
		}
		row(b, "`"+k.Key+"`", value, tick(k.Topic), tick(k.Static), k.Doc)
	}
}

// writeRules is the table of rules by release line: the whole difference between lines.
func writeRules(b *strings.Builder) {
	b.WriteString("\n## Rules of the release lines\n\nEverything that differs between the lines, and a few entries that are the same in all of them. `rule NAME VALUE` overrides one.\n\n")
	head, dashes, release := []string{"rule"}, []string{"---"}, []string{"modelled on"}
	var lines []protocol.Rules
	for _, l := range protocol.Lines() {
		r, err := protocol.RulesOf(l)
		if err != nil {
			panic(err)
		}
		lines = append(lines, r)
		head, dashes, release = append(head, string(l)), append(dashes, "---"), append(release, r.Release)
	}
	row(b, append(head, "meaning")...)
	row(b, append(dashes, "---")...)
	row(b, append(release, "the release")...)
	unclean := []string{"`unclean.leader.election.enable`"}
	for i := range lines {
		unclean = append(unclean, fmt.Sprint(lines[i].UncleanDefault))
	}
	row(b, append(unclean, "the setting's default")...)
	for _, rule := range protocol.RuleTable {
		cells := []string{"`" + rule.Name + "`"}
		for i := range lines {
			cells = append(cells, rule.Value(&lines[i]))
		}
		row(b, append(cells, rule.Doc+" ("+strings.Join(rule.Values, ", ")+")")...)
	}
}

func row(b *strings.Builder, cells ...string) {
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", "\\|")
	}
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func tick(v bool) string {
	if v {
		return "yes"
	}
	return ""
}
