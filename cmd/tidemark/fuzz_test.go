package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func fuzzed(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = dispatch(append([]string{"fuzz"}, args...), strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

func TestFuzzFindsNothing(t *testing.T) {
	for _, walk := range []string{"-walk=false", "-walk"} {
		status, stdout, stderr := fuzzed(t, "-runs", "20", walk)
		if status != 0 {
			t.Fatalf("status %d\n%s%s", status, stdout, stderr)
		}
		for _, want := range []string{"20 runs in ", "ISR sizes ", "leader epochs ", "truncations ", "Never reached:\n", "HW waited for an ISR member", "\nNo bug found.\n"} {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: no %q in\n%s", walk, want, stdout)
			}
		}
	}
}

// A planted bug is found, and the file that is written reproduces it.
func TestFuzzFindsAPlantedBug(t *testing.T) {
	file := filepath.Join(t.TempDir(), "found.lab")
	status, stdout, stderr := fuzzed(t, "-kafka", "2.1", "-rule", "hw-waits-for-isr=off", "-set", "min.insync.replicas=1", "-runs", "200", "-o", file)
	if status != 1 || !strings.Contains(stdout, "BUG: seed ") || !strings.Contains(stdout, "tidemark run "+file) {
		t.Fatalf("status %d\n%s%s", status, stdout, stderr)
	}
	if strings.Contains(stderr, "does not reproduce") {
		t.Error(stderr)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\nkafka 2.1\nrule hw-waits-for-isr off\n") {
		t.Errorf("the file is\n%s", text)
	}
	if n := strings.Count(string(text), "\n"); n > 40 {
		t.Errorf("%d lines are left", n)
	}
	var out, errs bytes.Buffer
	if got := dispatch([]string{"run", file}, strings.NewReader(""), &out, &errs); got != 1 {
		t.Errorf("tidemark run has status %d: %s", got, errs.String())
	}
}

// Which bug is found does not depend on how fast the workers are.
func TestFuzzIsRepeatable(t *testing.T) {
	text := func() string {
		file := filepath.Join(t.TempDir(), "found.lab")
		if status, stdout, stderr := fuzzed(t, "-rule", "control-retries=off", "-runs", "100", "-o", file); status != 1 {
			t.Fatalf("status %d\n%s%s", status, stdout, stderr)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if a, b := text(), text(); a != b {
		t.Errorf("first\n%s\nthen\n%s", a, b)
	}
}

func TestFuzzCommandLine(t *testing.T) {
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"-kafka", "9"}, `no release line "9"; there are 0.8, `},
		{[]string{"-set", "x"}, "it takes KEY=VALUE"},
		{[]string{"-set", "x=1"}, `no setting "x"`},
		{[]string{"-set", "min.insync.replicas=none"}, "min.insync.replicas takes a whole number"},
		{[]string{"-rule", "truncation"}, "it takes NAME=VALUE"},
		{[]string{"-rule", "x=on"}, `no rule "x"; there are `},
		{[]string{"-rule", "truncation=on"}, `rule truncation is one of high-watermark, `},
		{[]string{"-for", "1s", "-runs", "5"}, "-for and -runs exclude each other"},
		{[]string{"-runs", "0"}, "-runs is at least 1"},
		{[]string{"-for", "0s"}, "-for is more than 0"},
		{[]string{"-seed", "x"}, "-seed"},
		{[]string{"file.lab"}, `it takes flags only, not "file.lab"`},
	} {
		status, stdout, stderr := fuzzed(t, x.args...)
		if status != 2 || !strings.HasPrefix(stderr, "tidemark fuzz: ") || !strings.Contains(stderr, x.want) || stdout != "" {
			t.Errorf("%v: status %d, %q on standard error, %q on standard output", x.args, status, stderr, stdout)
		}
	}
	if status, _, stderr := fuzzed(t, "-h"); status != 0 || !strings.Contains(stderr, "usage: tidemark fuzz ") || !strings.Contains(stderr, "-walk") {
		t.Errorf("help: status %d, %s", status, stderr)
	}
}
