package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/history"
)

// entry is what is known of a pair.
type entry struct {
	text   string // the user's message, unique within a test
	state  string // "complete", or the code of the error
	answer string // of a complete pair
	older  string // the other answers that are complete, or kept after they were cancelled, sorted
	star   int
	flag   bool
	topic  string
}

// ledger is what must be there after a crash, or what is actually there.
type ledger struct {
	pairs []entry         // in order
	rules map[string]bool // ignore rules in force in the window
	file  map[string]bool // ignore rules in the .env file
	// branches is how many sessions branch off from another one.
	branches int
}

func (l ledger) clone() ledger {
	return ledger{slices.Clone(l.pairs), maps.Clone(l.rules), maps.Clone(l.file), l.branches}
}

// with returns a copy of the ledger with a change applied.
func (l ledger) with(change func(*ledger)) ledger {
	next := l.clone()
	change(&next)
	return next
}

func (l ledger) equal(o ledger) bool {
	return slices.Equal(l.pairs, o.pairs) && maps.Equal(l.rules, o.rules) && maps.Equal(l.file, o.file) && l.branches == o.branches
}

func (l ledger) String() string {
	var b strings.Builder
	for _, p := range l.pairs {
		fmt.Fprintf(&b, "  %q %s %q after %q stars %d flag %v topic %q\n", p.text, p.state, p.answer, p.older, p.star, p.flag, p.topic)
	}
	fmt.Fprintf(&b, "  branches %d\n  rules %v\n  file %v", l.branches, slices.Sorted(maps.Keys(l.rules)), slices.Sorted(maps.Keys(l.file)))
	return b.String()
}

func (l *ledger) at(text string) int {
	return slices.IndexFunc(l.pairs, func(p entry) bool { return p.text == text })
}

func (l *ledger) last() (entry, bool) {
	if len(l.pairs) == 0 {
		return entry{}, false
	}
	return l.pairs[len(l.pairs)-1], true
}

// put adds a pair at the end and removes an earlier pair with the same text.
func (l *ledger) put(p entry) {
	l.drop(p.text)
	l.pairs = append(l.pairs, p)
}

func (l *ledger) drop(text string) {
	l.pairs = slices.DeleteFunc(l.pairs, func(p entry) bool { return p.text == text })
}

// set changes a pair in place.
func (l *ledger) set(text string, change func(*entry)) {
	if i := l.at(text); i >= 0 {
		change(&l.pairs[i])
	}
}

// execute runs a command in this process, in the folder and home of the program on the screen, and so reads what that
// program has left on disk.
func execute(t *testing.T, dir string, env []string, args ...string) []byte {
	t.Helper()
	home := ""
	for _, e := range env {
		if value, ok := strings.CutPrefix(e, "WINNOW_HOME="); ok {
			home = value
		}
	}
	args = append([]string{"--home", home, "--env-file", filepath.Join(dir, ".env"), "--create"}, args...)
	var out, fault bytes.Buffer
	if status := run(t.Context(), args, nil, &out, &fault); status != statusDone && status != statusPending {
		t.Fatalf("winnow %v: status %d\n%s", args, status, fault.String())
	}
	return out.Bytes()
}

// provider is the provider whose rules are changed. It is not in the catalogue and has no address, so nothing is
// fetched for it.
const (
	provider     = "nowhere"
	providerKeys = "NOWHERE_API_KEY=sk-test-aaaaaaaaaaaa\n"
	ignoreKey    = "IGNORE_MODELS_NOWHERE="
)

// afterTools returns the part of an answer after its tools.
func afterTools(answer string) string {
	if i := strings.LastIndex(answer, "]]"); i >= 0 {
		answer = answer[i+len("]]"):]
	}
	return strings.TrimSpace(answer)
}

// withOlder adds an answer to the older ones of an entry.
func withOlder(older, answer string) string {
	all := append(slices.Collect(strings.Lines(older)), answer+"\n")
	slices.Sort(all)
	return strings.Join(all, "")
}

// readLedger reads the ledger with new processes. Two pairs with the same text are an error.
func readLedger(t *testing.T, dir string, env []string) ledger {
	t.Helper()
	var export struct{ Pairs []assistant.Pair }
	if err := json.Unmarshal(execute(t, dir, env, "history", "export"), &export); err != nil {
		t.Fatal(err)
	}
	l := ledger{rules: map[string]bool{}, file: map[string]bool{}}
	seen := map[string]bool{}
	for _, p := range export.Pairs {
		if seen[string(p.UserText)] || seen[p.ID] {
			t.Errorf("the pair %q is there twice", p.UserText)
		}
		seen[string(p.UserText)], seen[p.ID] = true, true
		e := entry{text: string(p.UserText), state: string(p.State), answer: string(p.AssistantText), star: p.Star, flag: p.Flag, topic: p.Topic}
		if p.State == assistant.PairError {
			e.state, e.answer = p.ErrorCode, ""
		}
		e.answer = afterTools(e.answer)
		for _, v := range p.Variants {
			if v.State == assistant.PairComplete || v.State == assistant.PairPartial {
				e.older = withOlder(e.older, afterTools(string(v.AssistantText)))
			}
		}
		l.pairs = append(l.pairs, e)
	}
	var told struct{ Sessions []history.Session }
	if err := json.Unmarshal(execute(t, dir, env, "history", "sessions", "--json"), &told); err != nil {
		t.Fatal(err)
	}
	for _, s := range told.Sessions {
		if s.Branch.Parent != "" {
			l.branches++
		}
	}
	var listed struct {
		Providers []struct {
			Provider string
			Ignore   []struct{ Pattern string }
		}
	}
	if err := json.Unmarshal(execute(t, dir, env, "rules", "list", "--json"), &listed); err != nil {
		t.Fatal(err)
	}
	for _, p := range listed.Providers {
		for _, rule := range p.Ignore {
			l.rules[rule.Pattern] = true
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, ".env"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), ignoreKey); ok {
			for pattern := range strings.SplitSeq(strings.Trim(value, `"'`), ",") {
				if pattern != "" {
					l.file[pattern] = true
				}
			}
		}
	}
	return l
}
