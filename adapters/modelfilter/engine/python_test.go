package engine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

// wireText goes over the wire as JSON from which Python reads what it reads from a
// file: a byte that is no UTF-8 is a lone surrogate.
type wireText string

func (s wireText) MarshalJSON() ([]byte, error) {
	out := []byte{'"'}
	for rest := string(s); rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError && size == 1 {
			out = fmt.Appendf(out, `\udc%02x`, rest[0])
		} else {
			quoted, err := json.Marshal(rest[:size])
			if err != nil {
				return nil, err
			}
			out = append(out, quoted[1:len(quoted)-1]...)
		}
		rest = rest[size:]
	}
	return append(out, '"'), nil
}

func wireTexts(all []string) []wireText {
	out := make([]wireText, len(all))
	for i, s := range all {
		out[i] = wireText(s)
	}
	return out
}

// read is what comes back of s: encoding/json turns lone surrogates into U+FFFD.
func read(s string) string { return string([]rune(s)) }

// pythonAnswer is a line of testdata/reference.py.
type pythonAnswer struct {
	Models []struct{ ID, Status, Rule string }
	Rules  []struct {
		Type, Pattern string
		Affected      int `json:"affected_count"`
	}
	Available, Total int
}

// ofEngine is e in the words of the reference.
func ofEngine(e *Engine) string {
	var b strings.Builder
	for _, m := range e.Statuses() {
		fmt.Fprintf(&b, "%q %s %q\n", read(m.ID), m.Status, read(m.Rule))
	}
	for _, list := range []List{Ignore, Allow} {
		for _, r := range e.Rules(list) {
			fmt.Fprintf(&b, "%s %q decides %d\n", map[List]string{Ignore: "ignore", Allow: "whitelist"}[list], read(r.Pattern), r.Decides)
		}
	}
	fmt.Fprintf(&b, "%d of %d", e.Shown(), e.Total())
	return b.String()
}

func (a *pythonAnswer) String() string {
	var b strings.Builder
	for _, m := range a.Models {
		fmt.Fprintf(&b, "%q %s %q\n", m.ID, m.Status, m.Rule)
	}
	for _, r := range a.Rules {
		fmt.Fprintf(&b, "%s %q decides %d\n", r.Type, r.Pattern, r.Affected)
	}
	fmt.Fprintf(&b, "%d of %d", a.Available, a.Total)
	return b.String()
}

// TestEqualsPython compares whole cases with a direct implementation on
// Python's fnmatch: statuses, deciding rules, counts.
func TestEqualsPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: nothing to compare with")
	}
	const cases = 10_000
	rng := rand.New(rand.NewPCG(5, 6))
	var in bytes.Buffer
	lines := json.NewEncoder(&in)
	want := make([]string, cases)
	seen := map[string]int{}
	for i := range want {
		ids := randomModels(rng, 1+rng.IntN(20))
		ignore, allow := different(randomPatterns(rng, 6)), different(randomPatterns(rng, 3))
		e := New("openai", ids)
		e.Set(ignore, allow)
		want[i] = ofEngine(e)
		for _, m := range e.Statuses() {
			seen[m.Status.String()]++
		}
		err := lines.Encode(map[string]any{"provider": "openai", "models": wireTexts(ids), "ignore": wireTexts(ignore), "whitelist": wireTexts(allow)})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []Status{Normal, Ignored, Whitelisted} {
		if seen[s.String()] < cases {
			t.Fatalf("only %d models are %s: the cases say little", seen[s.String()], s)
		}
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/reference.py")
	cmd.Stdin = &in
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	answers := bufio.NewScanner(bytes.NewReader(out))
	answers.Buffer(nil, len(out)+1)
	for i, engine := range want {
		if !answers.Scan() {
			t.Fatalf("%d answers for %d cases", i, cases)
		}
		var a pythonAnswer
		if err := json.Unmarshal(answers.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		if engine != a.String() {
			t.Fatalf("case %d: the engine says\n%s\nPython says\n%s", i+1, engine, &a)
		}
	}
}

// different leaves out what no rule can be: an empty pattern, one that came
// before. Python is asked what the engine means, not which rules are refused.
func different(patterns []string) []string {
	seen := map[string]bool{"": true}
	var out []string
	for _, p := range patterns {
		if !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out
}
