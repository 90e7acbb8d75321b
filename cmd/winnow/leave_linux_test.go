package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	at "winnow/assistant/assistanttest"
	"winnow/tui/overlay"
)

// The program says after its screen what is kept and how to come back, only if there is something.
func TestTheEndSaysWhatIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	const ctrlQ = "\x11"
	untouched := startVterm(t, b.dir, b.env)
	untouched.wait(ready)
	untouched.press(ctrlQ)
	<-untouched.ended
	if f, _ := untouched.frame(); strings.TrimSpace(f) != "" {
		t.Errorf("an untouched session ends with\n%s", f)
	}

	v := startVterm(t, b.dir, b.env)
	v.wait(ready)
	v.paste("hide every mini model")
	v.wait("› hide every mini model")
	v.press("\n")
	v.wait("Not saved yet")
	v.press(ctrlQ)
	v.wait("keep for next time")
	v.rest(overlay.GuardTime + keyGap)
	v.press("k")
	v.wait("the unsaved rules are kept: winnow rules diff shows them")
	v.wait("the conversation is kept: winnow --continue resumes it")
}

// --continue resumes the last session that has messages, not a new one that was left empty.
func TestContinueSkipsAnEmptySession(t *testing.T) {
	t.Parallel()
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	b.run(0, "ask", "show the rules of openai")
	empty := startVterm(t, b.dir, b.env)
	empty.wait(ready)
	empty.press("\x11")
	<-empty.ended
	v := startVterm(t, b.dir, b.env, "--continue")
	v.until("the session with a message", func(f string) bool {
		return strings.Contains(f, "show the rules of openai") && strings.Contains(f, "1/1")
	})
}

// After a kill, the next start opens the session whose answer was cut off, although another one changed the rules,
// and names the key that retries.
func TestTheSessionThatWasCutOffIsOpened(t *testing.T) {
	t.Parallel()
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	call := at.Call{Name: "add_ignore_rule", Arguments: `{"pattern":"*mini*","provider":"openai"}`}
	server := at.NewServer(t, at.Calls(call), at.Text("Done."), at.Stalled(at.TextEvent("half an answer"), at.NewGate(), at.Done))
	env := append(slices.Clone(b.env), "WINNOW_BASE_URL="+server.URL, "WINNOW_MODEL=model")
	first := startVterm(t, b.dir, env)
	send := func(message, answer string) {
		t.Helper()
		first.wait(ready)
		first.paste(message)
		first.wait("› " + message)
		first.press("\n")
		first.wait(answer)
	}
	send("hide mini", "Done.")
	b.run(0, "rules", "save")
	first.until("the save", func(f string) bool { return !strings.Contains(f, "unsaved") })
	first.press("\x0e") // ctrl+n
	send("is anybody there?", "half an answer")
	if err := syscall.Kill(first.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-first.ended
	second := startVterm(t, b.dir, env)
	second.until("the message that was cut off", func(f string) bool {
		return strings.Contains(f, "is anybody there?") && strings.Contains(f, "interrupted")
	})
	second.until("how to go on", func(f string) bool {
		return strings.Contains(footer(f), "winnow last ended before completing 1 answer · r in VIEW retries")
	})
}
