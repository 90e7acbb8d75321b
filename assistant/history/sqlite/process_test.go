package sqlite

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/safetext"
)

// childEnv makes this test binary play a second process: "role path".
const childEnv = "WINNOW_HISTORY_CHILD"

// roundsEnv sets the rounds of the kill test and of TestFlippedBytes.
const roundsEnv = "WINNOW_KILL_ROUNDS"

// seedEnv chooses other bytes for TestFlippedBytes to flip.
const seedEnv = "WINNOW_FLIP_SEED"

func TestMain(m *testing.M) {
	role, path, _ := strings.Cut(os.Getenv(childEnv), " ")
	switch role {
	case "":
		at.UseMemory()
		if err := flag.Set("rapid.checks", strconv.Itoa(at.Rounds(8, 30))); err != nil { // each opens databases; more with -rapid.checks
			panic(err)
		}
		os.Exit(m.Run())
	case "work":
		childWork(path)
	case "close":
		childClose(path)
	case "hold":
		childHold(path)
	case "migrate":
		childMigrate(path)
	default:
		childLimited(role, path)
	}
}

func childOpen(path string, o Options) *store {
	s, err := openStore(context.Background(), path, o)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	return s
}

// childWork changes pairs until it is killed or its stdin ends. It says what it
// is about to do and, after Commit returned, that it is done:
//
//	try put ID TEXT STATE · try del ID · ok
func childWork(path string) {
	s := childOpen(path, Options{})
	r := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	ctx := context.Background()
	live := map[string]*assistant.Pair{}
	ended := make(chan struct{})
	go func() { awaitEnd(); close(ended) }()
	fmt.Println("ready")
	for n := 0; ; n++ {
		select {
		case <-ended:
			s.Close()
			return
		default:
		}
		b := &assistant.Batch{}
		ids := slices.Sorted(maps.Keys(live))
		text := fmt.Sprintf("%d-%d", os.Getpid(), n)
		var p *assistant.Pair
		switch k := r.IntN(10); {
		case k == 0 && len(ids) > 3:
			p = live[ids[r.IntN(len(ids))]]
			delete(live, p.ID)
			b.Delete = []int64{p.Seq}
			fmt.Println("try del", p.ID)
		case k < 4 && len(ids) > 0:
			p = live[ids[r.IntN(len(ids))]]
			p.UserText, p.State = safetext.Text(text), assistant.PairComplete
			b.Put = []*assistant.Pair{p}
			fmt.Println("try put", p.ID, text, p.State)
		default:
			p = pair("child", text, strings.Repeat("answer ", r.IntN(400)))
			p.ID, p.State = assistant.NewID(time.Now()), assistant.PairSending
			live[p.ID] = p
			b.Put = []*assistant.Pair{p}
			fmt.Println("try put", p.ID, text, p.State)
		}
		if err := s.Commit(ctx, b); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println("ok")
	}
}

// childHold puts one pair that is being sent, and waits to be killed.
func childHold(path string) {
	s := childOpen(path, Options{})
	p := pair("held", "my prompt", "")
	p.State = assistant.PairSending
	if err := s.Commit(context.Background(), &assistant.Batch{Put: []*assistant.Pair{p}}); err != nil {
		fmt.Println("error", err)
	}
	fmt.Println("ready")
	awaitEnd()
}

// childMigrate stops in the middle of a migration and waits to be killed.
func childMigrate(path string) {
	childOpen(path, Options{step: func(name string) {
		if name == "version 8: commit" {
			fmt.Println("ready")
			awaitEnd()
		}
	}})
}

// awaitEnd returns when the parent closes the stdin of this child, or dies.
func awaitEnd() { _, _ = io.Copy(io.Discard, os.Stdin) }

// child is a running second process.
type child struct {
	*exec.Cmd
	out   *bufio.Scanner
	stdin io.Closer
}

func startChild(t testing.TB, role, path string) *child {
	t.Helper()
	c := startChildUnready(t, role, path)
	if !c.out.Scan() || c.out.Text() != "ready" {
		t.Fatalf("the child said %q", c.out.Text())
	}
	return c
}

// startChildUnready does not wait until the child has opened the database; change, when
// given, changes the command before it starts.
func startChildUnready(t testing.TB, role, path string, change ...func(*exec.Cmd)) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{Cmd: exec.CommandContext(t.Context(), self)}
	c.Env = append(os.Environ(), childEnv+"="+role+" "+path)
	c.Stderr = os.Stderr
	for _, f := range change {
		f(c.Cmd)
	}
	if c.stdin, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewScanner(out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kill() })
	return c
}

func (c *child) kill() {
	_ = c.Process.Kill() // it may be gone already
	_ = c.Wait()         // says that it was killed
}

// record is what is known of a pair from what a child said.
type record struct {
	text  string
	state assistant.PairState
}

// follow applies what a child says to state until it has said n things or is
// gone; pending is the change that it began and did not finish.
func (c *child) follow(t testing.TB, state map[string]record, n int, pending []string) []string {
	t.Helper()
	for ; n > 0 && c.out.Scan(); n-- {
		words := strings.Fields(c.out.Text())
		switch words[0] {
		case "try":
			pending = words
		case "ok":
			apply(state, pending)
			pending = nil
		default:
			t.Fatalf("the child said %q", c.out.Text())
		}
	}
	return pending
}

func apply(state map[string]record, words []string) {
	if len(words) == 0 {
		return
	}
	if words[1] == "del" {
		delete(state, words[2])
		return
	}
	state[words[2]] = record{words[3], assistant.PairState(words[4])}
}

// stored reads what a store holds.
func stored(t testing.TB, s *store) map[string]record {
	t.Helper()
	got := map[string]record{}
	for _, p := range load(t, s, seqs(t, s, "")...) {
		got[p.ID] = record{string(p.UserText), p.State}
	}
	return got
}

// interrupted is what becomes of state when the process that was sending died.
func interrupted(state map[string]record) map[string]record {
	out := map[string]record{}
	for id, r := range state {
		if r.state == assistant.PairSending {
			r.state = assistant.PairError
		}
		out[id] = r
	}
	return out
}

// Kill -9 at any instant loses nothing that was acknowledged, and
// what was being sent comes back as interrupted.
func TestKillLosesNothingAcknowledged(t *testing.T) {
	rounds := at.Rounds(8, 30)
	if n, err := strconv.Atoi(os.Getenv(roundsEnv)); err == nil {
		rounds = n
	}
	path := filepath.Join(t.TempDir(), "h", "history.db")
	r := rand.New(rand.NewPCG(7, 7))
	state := map[string]record{}
	for round := range rounds {
		c := startChild(t, "work", path)
		pending := c.follow(t, state, 1+r.IntN(40), nil)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		pending = c.follow(t, state, 1<<30, pending) // said before it died
		_ = c.Wait()                                 // says that it was killed

		s, err := openStore(t.Context(), path, Options{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if rep := s.Report(); rep.Salvage != nil || rep.LostWAL {
			t.Fatalf("round %d: Report = %+v", round, rep)
		}
		got := stored(t, s)
		if want := interrupted(state); !maps.Equal(got, want) {
			begun := maps.Clone(state)
			apply(begun, pending)
			if !maps.Equal(got, interrupted(begun)) {
				t.Fatalf("round %d: the store holds neither what was acknowledged nor that and %v:\n%v\nwant\n%v", round, pending, got, want)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		state = got
	}
	if len(state) == 0 {
		t.Error("the child never wrote a thing")
	}
}

// Processes that write at once lose nothing and break nothing.
func TestTwoProcessesWriteAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	s := open(t, path, Options{})
	children := []*child{startChild(t, "work", path), startChild(t, "work", path)}
	want := map[string]record{}
	for n := range 60 {
		p := pair("parent", fmt.Sprint(n), "answer")
		put(t, s, p)
		want[p.ID] = record{string(p.UserText), p.State}
	}
	for _, c := range children {
		c.follow(t, want, 60, nil)
		c.stdin.Close()
		c.follow(t, want, 1<<30, nil)
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if got := stored(t, s); !maps.Equal(got, want) {
		t.Errorf("%d pairs stored, %d acknowledged", len(got), len(want))
	}
	report, err := s.Check(t.Context())
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("Check = %+v, %v", report, err)
	}
}

// Only the death of the process that sends ends a pair as interrupted.
func TestOnlyADeadOwnersPairIsInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	c := startChild(t, "hold", path)
	s := open(t, path, Options{})
	if got := load(t, s, 1)[0]; got.State != assistant.PairSending || s.Report().Interrupted != 0 {
		t.Fatalf("while its owner lives the pair is %s (%d interrupted)", got.State, s.Report().Interrupted)
	}
	mine := pair("mine", "and mine", "")
	mine.State = assistant.PairSending
	put(t, s, mine)
	c.kill()
	other := open(t, path, Options{})
	got := load(t, other, 1, mine.Seq)
	if got[0].State != assistant.PairError || got[0].ErrorCode != assistant.CodeInterrupted || got[0].UserText != "my prompt" {
		t.Errorf("the dead owner's pair is %s %s %q", got[0].State, got[0].ErrorCode, got[0].UserText)
	}
	if got[1].State != assistant.PairSending || other.Report().Interrupted != 1 {
		t.Errorf("the living owner's pair is %s (%d interrupted)", got[1].State, other.Report().Interrupted)
	}
}

// A store learns what another process did.
func TestAnotherProcessesChangesAreSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	a, b := open(t, path, Options{}), open(t, path, Options{})
	first := pair("x", "one", "1")
	put(t, a, first, pair("x", "two", "2"))
	if got := seqs(t, b, ""); len(got) != 2 {
		t.Fatalf("b sees %v", got)
	}
	commit(t, a, &assistant.Batch{Delete: []int64{first.Seq}})
	if changed, err := b.Refresh(t.Context()); !changed || err != nil {
		t.Errorf("Refresh = %v, %v; want a change", changed, err)
	}
	if changed, err := b.Refresh(t.Context()); changed || err != nil {
		t.Errorf("Refresh = %v, %v; want none", changed, err)
	}
	if got := seqs(t, b, "x"); len(got) != 1 {
		t.Errorf("b sees %v after a delete", got)
	}
}
