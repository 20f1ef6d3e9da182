package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tidemark runs the command on files with the texts given, in order, and on "-".
func tidemark(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err strings.Builder
	status = dispatch(args, strings.NewReader(stdin), &out, &err)
	return status, out.String(), err.String()
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

const good = `kafka 0.10
topic topic1-0 on 1 2 3
producer P acks all to topic1-0
send P "A"
run until record "A" is acked
expect topic1-0 leader is 1
`

func TestExitStatuses(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		status int
		stderr string
	}{
		"every expect held":      {good, 0, ""},
		"an expect failed":       {good + `expect topic1-0 HW is 3`, 1, "-:7: expect topic1-0 HW is 3: topic1-0 HW is 1\n"},
		"a run until ran out":    {good + `run until topic1-0 leader is 2 within 1s`, 1, "-:7: run until topic1-0 leader is 2 within 1s: not within 1s: topic1-0 leader is 1\n"},
		"it cannot be parsed":    {good + `stp broker 1`, 2, `-:7:1: expected a statement, not "stp"; the nearest valid word is "stop"`},
		"it cannot be done now":  {good + `start broker 1`, 2, "-:7:1: broker 1 is up"},
		"a lane of nothing":      {good + `expect lane all: record "a" is lost`, 2, "there is no lane all"},
		"a stream never settles": {good + "stream P every 100ms\nsettle", 2, "-:8:1: the stream of P never lets the cluster settle"},
		"an empty file":          {"", 0, ""},
	} {
		status, _, stderr := tidemark(t, c.source, "run", "-")
		if status != c.status || !strings.HasPrefix(stderr, c.stderr) && (c.stderr == "" || !strings.Contains(stderr, c.stderr)) {
			t.Errorf("%s: status %d, %s", name, status, stderr)
		}
	}
}

// The example that the README names loses two records, in both eras.
func TestExample(t *testing.T) {
	for _, kafka := range []string{"0.10", "2.4"} {
		status, stdout, stderr := tidemark(t, "", "run", "-kafka", kafka, "../../lessons/acked-then-lost.lab")
		if status != 0 || stderr != "" {
			t.Fatalf("kafka %s: status %d, %s", kafka, status, stderr)
		}
		for _, line := range []string{
			"topic1-0 on 1 2 3: leader 2, epoch 1, ISR 1 2 3",
			`"kept" of P: acked at 0, told after 100ms, readable after 150ms, on 1 2 3`,
			`"lost1" of P: acked at 1, told after 100ms, on no broker, LOST`,
			`"lost2" of P: acked at 2, told after 100ms, on no broker, LOST`,
		} {
			if !strings.Contains(stdout, line) {
				t.Errorf("kafka %s: it does not show %s:\n%s", kafka, line, stdout)
			}
		}
	}
}

// Nothing of a file with an error is executed, not even what stands before the error.
func TestNothingIsExecutedBeforeAnError(t *testing.T) {
	status, stdout, _ := tidemark(t, good+"show ledger\nshow legder\n", "run", "-")
	if status != 2 || stdout != "" {
		t.Errorf("status %d, shown %q", status, stdout)
	}
}

func TestTheCommandLine(t *testing.T) {
	file := write(t, "x.lab", good)
	for _, c := range []struct {
		args   []string
		status int
		stderr string
	}{
		{[]string{"run"}, 2, "usage"},
		{[]string{"run", "-kafka", "0.12", file}, 2, `no release line "0.12"`},
		{[]string{"run", "-kafka", "0.11", file}, 0, ""},
		{[]string{"run", "-kafka", "2.4", file}, 0, ""},
		{[]string{"run", "-seed", "x", file}, 2, "-seed takes a whole number"},
		{[]string{"run", "-seeds", "5..1", file}, 2, "-seeds takes a range"},
		{[]string{"run", "-seeds", "1..5", file}, 0, ""},
		{[]string{"run", "-seed", "1", "-seeds", "1..5", file}, 2, "exclude each other"},
		{[]string{"run", "-nonsense", file}, 2, "flag provided but not defined"},
		{[]string{"run", file, file + ".missing"}, 2, "no such file"},
		{[]string{"run", "-trace", filepath.Join(file, "x"), file}, 2, "not a directory"},
		{[]string{"fuzz", "-runs", "x"}, 2, "invalid value"},
		{[]string{"fizz"}, 2, `no command "fizz"`},
		{[]string{"version"}, 0, ""},
		{[]string{"help"}, 0, ""},
	} {
		status, _, stderr := tidemark(t, "", c.args...)
		if status != c.status || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%v: status %d, %s", c.args, status, stderr)
		}
	}
}

func TestWithSeveralFilesTheStatusIsTheHighest(t *testing.T) {
	ok := write(t, "ok.lab", good)
	failing := write(t, "failing.lab", good+"expect topic1-0 is offline\nshow ledger\n")
	status, stdout, stderr := tidemark(t, good+"show ledger\n", "run", failing, ok, "-")
	if status != 1 || !strings.Contains(stderr, "failing.lab:7: expect topic1-0 is offline") {
		t.Errorf("status %d, %s", status, stderr)
	}
	if strings.Count(stdout, `"A" of P`) != 1 {
		t.Errorf("shown %s", stdout)
	}
}

func TestFlagsStandInForTheFilesOwnLines(t *testing.T) {
	status, stdout, stderr := tidemark(t, "kafka 0.8\nseed 3\n", "run", "-json", "-kafka", "0.10", "-seed", "9", "-")
	if status != 0 || !strings.Contains(stdout, `"kafka":"0.10","seed":9`) {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

func TestOneJSONObjectARun(t *testing.T) {
	broken := write(t, "broken.lab", "stp\n")
	status, stdout, stderr := tidemark(t, good+"show ledger\nexpect topic1-0 HW is 3\n", "run", "-json", "-seeds", "4..5", broken, "-")
	if status != 2 || stderr != "" {
		t.Errorf("status %d, %s", status, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) != 3 {
		t.Fatal(stdout)
	}
	var l []outcome
	for _, line := range lines {
		var o outcome
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		l = append(l, o)
	}
	if o := l[0]; o.Status != 2 || o.File != broken || o.Error.Line != 1 || o.Error.Column != 1 {
		t.Errorf("%s", lines[0])
	}
	if o := l[2]; o.Status != 1 || *o.Seed != 5 || o.Error.Message != "topic1-0 HW is 1" || len(o.Error.Events) != 5 || !strings.HasPrefix(o.Show, `"A" of P: acked`) || o.Events == 0 {
		t.Errorf("%s", lines[2])
	}
}

func TestATraceIsAHeaderAndEveryEvent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.jsonl")
	source := good + "mark \"here\"\nsend P \"B\"\nrun 1s\nrewind \"here\"\nsend P \"C\"\nrun 1s\n"
	if status, _, stderr := tidemark(t, source, "run", "-trace", file, "-"); status != 0 {
		t.Fatal(stderr)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	n, seq, rewinds := 0, 0, 0
	values := map[string]bool{}
	for ; lines.Scan(); n++ {
		var o struct {
			Tidemark    string
			Kafka, Kind string
			Brokers     []int
			Seq, Rewind int
			Values      []string
		}
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		switch {
		case n == 0:
			if o.Tidemark != "trace 1" || o.Kafka != "0.10" || len(o.Brokers) != 3 {
				t.Errorf("the header is %s", lines.Bytes())
			}
		case o.Rewind != 0:
			rewinds++
			seq = o.Rewind
		default:
			if seq++; o.Seq != seq {
				t.Fatalf("event %d follows %d", o.Seq, seq-1)
			}
			if o.Kind == "record_acked" {
				values[o.Values[0]] = true
			}
		}
	}
	if rewinds != 1 || !values["A"] || !values["B"] || !values["C"] {
		t.Errorf("%d rewinds, acked %v", rewinds, values)
	}
}
