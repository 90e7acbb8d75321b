package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	at "winnow/assistant/assistanttest"
)

// batchAnswer is an answer of rules test --json without the text of refusals, which is specific to winnow.
type batchAnswer struct {
	Models           []struct{ ID, Status, Rule string }
	Rules            []caseRule
	Available, Total int
	Refused          []struct{ Type, Pattern string }
}

// caseJSON is a line of a batch as other programs write it.
type caseJSON struct {
	Provider  *string  `json:"provider"`
	Models    []string `json:"models"`
	Ignore    []string `json:"ignore"`
	Whitelist []string `json:"whitelist"`
}

// randomCase draws a line of a batch: ids of several providers, and patterns that are surrounded by space,
// duplicated, empty, or impossible to store in the file.
func randomCase(rng *rand.Rand) caseJSON {
	one := func(from string) string { all := strings.Split(from, " "); return all[rng.IntN(len(all))] }
	provider := one("openai OpenAI my_provider")
	c := caseJSON{Provider: &provider, Models: []string{}, Ignore: []string{}, Whitelist: []string{}}
	seen := map[string]bool{}
	for range rng.IntN(20) {
		id := one("openai/ openai/ openai/ OPENAI/ my_provider/ my_provider/ azure/ / openai/openai/") +
			one("gpt o claude é 😀 [x] {a,b}") + one("- / .") + one("3 4 4o 5") + one("-mini -preview -2024-05-13 *")
		if rng.IntN(30) == 0 {
			id = one("bare gpt-4") // without a provider
		}
		if !seen[id] {
			seen[id] = true
			c.Models = append(c.Models, id)
		}
	}
	pattern := func() string {
		var b strings.Builder
		if rng.IntN(3) > 0 { // most patterns should match something
			b.WriteByte('*')
		}
		for range 1 + rng.IntN(3) {
			b.WriteString(one("* * * * ? gpt gpt-4 o 4o - / [0-9] [!0-4] [] [!] [z-a] [ ] é 😀 openai/ mini preview {a 2024 ^ \\ [^a] [a-] [--0]"))
		}
		switch rng.IntN(20) {
		case 0:
			b.WriteString(one(", ${ ${X} $ \n a\nb"))
		case 1:
			return one(" \t \n") + b.String() + " "
		case 2:
			return " "
		}
		if rng.IntN(3) > 0 {
			return b.String() + "*"
		}
		return b.String()
	}
	for _, list := range []*[]string{&c.Ignore, &c.Whitelist} {
		for range rng.IntN(5) {
			*list = append(*list, pattern())
		}
		if n := len(*list); n > 0 && rng.IntN(6) == 0 {
			*list = append(*list, (*list)[rng.IntN(n)])
		}
	}
	return c
}

// TestBatchEqualsPython sends thousands of random cases to rules test --json and to an implementation on Python's fnmatch;
// the answers must be the same.
func TestBatchEqualsPython(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: nothing to compare with")
	}
	cases := at.Rounds(3_000, 20_000)
	rng := rand.New(rand.NewPCG(7, 8))
	var in bytes.Buffer
	all := json.NewEncoder(&in)
	all.SetEscapeHTML(false)
	for range cases {
		if err := all.Encode(randomCase(rng)); err != nil {
			t.Fatal(err)
		}
	}
	reference, err := filepath.Abs("../../adapters/modelfilter/engine/testdata/reference.py")
	if err != nil {
		t.Fatal(err)
	}
	answers := func(name string, args ...string) *bufio.Scanner {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Stdin = t.TempDir(), bytes.NewReader(in.Bytes())
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		lines := bufio.NewScanner(bytes.NewReader(out))
		lines.Buffer(nil, len(out)+1)
		return lines
	}
	ours, theirs := answers("winnow", "rules", "test", "--json"), answers(python, reference)
	given := bufio.NewScanner(&in)
	given.Buffer(nil, in.Len()+1)
	statuses, refused := map[string]int{}, 0
	n := 0
	for ; given.Scan() && ours.Scan() && theirs.Scan(); n++ {
		var got, want batchAnswer
		if err := json.Unmarshal(ours.Bytes(), &got); err != nil {
			t.Fatalf("%v: %s", err, ours.Bytes())
		}
		if err := json.Unmarshal(theirs.Bytes(), &want); err != nil {
			t.Fatalf("%v: %s", err, theirs.Bytes())
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("case %d: %s\nwinnow says %s\nPython says %s", n+1, given.Bytes(), ours.Bytes(), theirs.Bytes())
		}
		for _, m := range want.Models {
			statuses[m.Status]++
		}
		refused += len(want.Refused)
	}
	if n != cases || ours.Scan() || theirs.Scan() {
		t.Fatalf("not %d answers each: %d", cases, n)
	}
	for _, s := range []string{"normal", "ignored", "whitelisted"} {
		if statuses[s] < cases/2 {
			t.Errorf("only %d models are %s: the cases say little", statuses[s], s)
		}
	}
	if refused < cases/10 {
		t.Errorf("only %d patterns are refused: the cases say little", refused)
	}
}
