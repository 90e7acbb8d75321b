package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/tui/overlay"
)

// The variables that repeat a failed kill test: the number of rounds and the seed.
const (
	killRoundsEnv = "WINNOW_KILL_ROUNDS"
	killSeedEnv   = "WINNOW_KILL_SEED"
)

const (
	killLanes  = 4  // lanes that run at the same time, because a round mostly waits
	homeRounds = 12 // rounds in one home, which then contains about twenty pairs
	// killSpan is the time after the last key within which the program is killed. The answer of the scripted
	// endpoint is complete after about half of it.
	killSpan = 40 * time.Millisecond
	// draftAge is how old a draft must be to survive.
	draftAge = 4 * time.Second
)

// The real program is killed with kill -9 at random moments. Whatever the screen showed as done is done, whatever it
// showed as deleted is deleted, no pair exists twice, and a pair that was being answered is stored as interrupted.
func TestKillsLoseNothing(t *testing.T) {
	t.Parallel()
	rounds, seed := at.Rounds(6*killLanes, 200), rand.Uint64()
	if n, err := strconv.Atoi(os.Getenv(killRoundsEnv)); err == nil {
		rounds = n
	}
	if n, err := strconv.ParseUint(os.Getenv(killSeedEnv), 10, 64); err == nil {
		seed = n
	}
	for lane := range killLanes {
		t.Run(fmt.Sprintf("lane %d", lane), func(t *testing.T) {
			t.Parallel()
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("%s=%d %s=%d makes the same rounds", killSeedEnv, seed, killRoundsEnv, rounds)
				}
			})
			v := &victim{t: t, rand: rand.New(rand.NewPCG(seed, uint64(lane))), lane: lane}
			for n := range (rounds + killLanes - 1) / killLanes {
				if n%homeRounds == 0 {
					v.moveIn()
				}
				v.round(n)
				if t.Failed() {
					return
				}
			}
			t.Logf("%d kills after what was shown as done, %d in the middle", v.after, v.amid)
		})
	}
}

// victim is the program that is killed repeatedly, with what is known about it.
type victim struct {
	t    *testing.T
	rand *rand.Rand
	lane int
	n    int // numbers texts and patterns
	dir  string
	env  []string
	args []string
	end  *scripted

	screen *vterm
	must   ledger   // what must be there: it was acknowledged
	may    []ledger // other valid states after a kill in the middle
	draft  string   // the draft that must be there
	last   string   // the last action, for error messages
	newest string   // the message whose turn made the newest change to the rules
	card   string   // the card that must be there after a kill: it offers what came of a cancelled answer
	after  int      // kills after an acknowledgement
	amid   int      // kills before an acknowledgement
}

// moveIn starts with a new home. The home of a failed round is not removed.
func (v *victim) moveIn() {
	dir, err := os.MkdirTemp("", "winnow-killed-")
	if err != nil {
		v.t.Fatal(err)
	}
	v.dir = dir
	v.t.Cleanup(func() {
		if v.t.Failed() && v.dir == dir {
			v.t.Logf("the home is in %s", dir)
		} else if err := os.RemoveAll(dir); err != nil {
			v.t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(v.dir, ".env"), []byte(providerKeys), 0o600); err != nil {
		v.t.Fatal(err)
	}
	v.end = newScripted(v.t)
	v.env = append(os.Environ(), "WINNOW_HOME="+filepath.Join(v.dir, "home"), "WINNOW_LOCAL_SERVERS=false", "PROXY_BASE_URL="+refused)
	v.args = []string{"--base-url", v.end.url, "-m", "model"}
	v.must, v.may = ledger{rules: map[string]bool{}, file: map[string]bool{}}, nil
	v.draft, v.last, v.newest, v.card = "", "", "", ""
}

// round starts the program, compares what is there with what must be, performs some actions and kills the program
// during or right after another one.
func (v *victim) round(n int) {
	v.screen = startVterm(v.t, v.dir, v.env, v.args...)
	v.open()
	v.check(n)
	v.recover() // open may have seen a frame before the question was drawn
	for range v.rand.IntN(3) {
		a := v.choose(false)
		v.last = a.name
		a.begin()
		if !v.screen.until(a.name, a.acked) {
			v.t.Fatalf("the program ended in %q", a.name)
		}
		v.must = v.must.with(a.done)
		v.carded(a)
	}
	a := v.choose(true)
	v.last = a.name
	before := v.end.count()
	a.begin()
	v.aim(a)
	v.screen.kill()
	frame, _ := v.screen.frame()
	switch {
	case a.acked(frame):
		v.must = v.must.with(a.done)
		v.carded(a)
		v.after++
	default:
		v.card = "" // no longer known
		v.amid++
		v.may = append(v.may, v.must.with(a.done))
		for _, half := range a.half {
			v.may = append(v.may, v.must.with(half))
		}
		v.newest = ""                         // no longer known
		if a.asks && v.end.count() > before { // the endpoint has the message: it cannot be lost
			v.must, v.may = v.may[0], v.may[1:]
		}
	}
}

// aim waits for the moment of the kill.
func (v *victim) aim(a act) {
	switch at := v.rand.IntN(4); {
	case at == 0 || a.late: // right after the screen shows it as done
		v.screen.until(a.name, a.acked)
	case at == 1: // at a frame
		n := v.rand.IntN(4)
		v.screen.within(killSpan, func(string) bool { n--; return n < 0 })
	default: // at a moment
		v.screen.rest(time.Duration(v.rand.Int64N(int64(killSpan))))
	}
}

// open waits until the program accepts keys and has loaded what a crash left.
func (v *victim) open() {
	last, any := v.must.last()
	v.screen.until("the start", func(frame string) bool {
		return asksRecovery(frame) || modeOf(frame) != "" && !strings.Contains(frame, "loading…") &&
			(strings.Contains(frame, ready) || any && strings.Contains(frame, last.text) || strings.Count(frame, " q") > 0)
	})
	v.recover()
	if v.draft != "" {
		v.screen.wait(v.draft)
		v.draft = ""
	}
}

func asksRecovery(frame string) bool { return strings.Contains(frame, "stopped unexpectedly") }

// recover answers the question after a crash, if it is asked.
func (v *victim) recover() {
	if frame, _ := v.screen.frame(); asksRecovery(frame) {
		v.screen.press(escape) // recovers
		v.screen.until("the recovery", func(frame string) bool { return !asksRecovery(frame) })
	}
}

// check compares what is there with what was acknowledged.
func (v *victim) check(n int) {
	got := readLedger(v.t, v.dir, v.env)
	fits := got.equal(v.must)
	for _, l := range v.may {
		fits = fits || got.equal(l)
	}
	if !fits {
		frame, _ := v.screen.frame()
		v.t.Errorf("round %d, killed in %q:\n%v\nmust be\n%v\nor one of %v\nscreen:\n%s", n, v.last, got, v.must, v.may, frame)
	}
	if last, ok := got.last(); ok && last.state == assistant.CodeInterrupted {
		seen := func(frame string) bool {
			return strings.Contains(frame, last.text) && strings.Contains(frame, "interrupted")
		}
		v.screen.until("the interrupted message", func(frame string) bool { return seen(frame) || asksRecovery(frame) })
		v.recover() // the question may lie over the message
		v.screen.until("the interrupted message", seen)
	}
	if v.card != "" {
		v.screen.wait(v.card)
	}
	v.must, v.may = got, nil
}

// act is one action of a user.
type act struct {
	name  string
	begin func()                  // presses the keys
	acked func(frame string) bool // the screen shows that it is done
	done  func(*ledger)
	half  []func(*ledger) // valid states if the program is killed in the middle
	asks  bool            // it sends a message to the endpoint
	ends  bool            // it cancels a turn or keeps what came of it, so that the message may be gone
	card  string          // the card that it leaves
	late  bool            // the screen shows nothing before it is done, so the kill waits for that
}

// choose selects an action that is possible now. The last action of a round may be one that never completes.
func (v *victim) choose(last bool) act {
	acts := []func() act{v.say, v.say, v.hide, v.addRule}
	if p, ok := v.must.last(); ok {
		switch {
		case p.state == string(assistant.PairComplete) && strings.Contains(p.text, "say"):
			acts = append(acts, v.star, v.star, v.flag, v.remove, v.regenerate, v.regenerate, v.command, v.command, v.branch,
				v.cancelRegenerated, v.keepRegenerated)
		case p.state == string(assistant.PairComplete):
			acts = append(acts, v.star, v.flag, v.remove, v.command, v.branch)
		case p.state == string(assistant.PairPartial):
			acts = append(acts, v.star, v.remove, v.branch)
		default:
			acts = append(acts, v.retry, v.reAsk, v.remove, v.star)
		}
		if p.text == v.newest && v.newest != "" {
			acts = append(acts, v.undo, v.undo)
		}
	}
	if !maps.Equal(v.must.rules, v.must.file) {
		acts = append(acts, v.save)
	}
	if last {
		acts = append(acts, v.stall, v.stall, v.cancel, v.keep)
		if v.rand.IntN(20) == 0 {
			return v.write()
		}
	} else {
		acts = append(acts, v.cancel, v.keep)
	}
	return acts[v.rand.IntN(len(acts))]()
}

// text returns a unique message.
func (v *victim) text(verb string) string {
	v.n++
	return fmt.Sprintf("%s q%dx%d.", verb, v.lane, v.n)
}

// compose puts a message into the empty box.
func (v *victim) compose(text string) {
	v.screen.to("INPUT")
	for {
		frame, _ := v.screen.frame()
		if strings.Contains(frame, "Type a message") {
			break
		}
		v.screen.press(escape) // after it was cancelled, or interrupted before it was sent
		v.screen.until("an empty box", func(f string) bool {
			return footer(f) != footer(frame) || f != frame && strings.Contains(f, "Type a message")
		})
		v.screen.to("INPUT")
	}
	v.screen.paste(text)
	v.screen.until("the draft", func(frame string) bool { return strings.Contains(inputBox(frame), text) })
}

// inputBox is the part of a frame below the conversation.
func inputBox(frame string) string {
	lines := strings.Split(frame, "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

const sendKey = "\n" // ctrl+j, which every terminal distinguishes from enter

func (v *victim) sends(text string) func() {
	return func() {
		v.compose(text)
		v.screen.press(sendKey)
	}
}

var running = regexp.MustCompile(`… \d\d:\d\d`)

// settled reports whether a frame shows an answer as complete.
func settled(frame, answer string) bool {
	return strings.Contains(frame, answer) && !running.MatchString(frame)
}

func completePair(text, answer string) func(*ledger) {
	return func(l *ledger) {
		l.put(entry{text: text, state: string(assistant.PairComplete), answer: answer, flag: true})
	}
}

func interruptedPair(text string) func(*ledger) {
	return func(l *ledger) { l.put(entry{text: text, state: assistant.CodeInterrupted, flag: true}) }
}

func (v *victim) say() act {
	text := v.text("say")
	answer := v.end.answer(text, 1)
	return act{
		name: "send " + text, begin: v.sends(text), asks: true,
		acked: func(frame string) bool { return settled(frame, answer) },
		done:  completePair(text, answer), half: []func(*ledger){interruptedPair(text)},
	}
}

// stall sends a message whose answer never ends.
func (v *victim) stall() act {
	text := v.text("stall")
	return act{
		name: "stall " + text, begin: v.sends(text), asks: true,
		acked: func(frame string) bool { return strings.Contains(frame, "half of "+text) },
		done:  interruptedPair(text),
	}
}

// write leaves a draft, which must survive once it has reached a certain age.
func (v *victim) write() act {
	text := v.text("draft")
	begun := time.Now()
	return act{
		name:  "draft " + text,
		late:  true,
		begin: func() { v.compose(text); begun = time.Now() },
		acked: func(frame string) bool {
			v.screen.rest(draftAge - time.Since(begun))
			v.draft = text
			return true
		},
		done: func(*ledger) {},
	}
}

// hide sends a message whose turn adds a rule.
func (v *victim) hide() act {
	text := v.text("hide")
	answer, rule := v.end.answer(text, 1), v.end.rule(text)
	add := func(l *ledger) { l.rules[rule] = true }
	whole := func(l *ledger) { completePair(text, answer)(l); add(l) }
	ruled := func(l *ledger) { interruptedPair(text)(l); add(l) }
	return act{
		name: "send " + text, asks: true, begin: v.sends(text),
		acked: func(frame string) bool { return settled(frame, answer) },
		done:  func(l *ledger) { whole(l); v.newest = text },
		half:  []func(*ledger){interruptedPair(text), ruled},
	}
}

// addRule adds a rule in the pane.
func (v *victim) addRule() act {
	v.n++
	rule := fmt.Sprintf("r%dx%d-*", v.lane, v.n)
	return act{
		name: "add " + rule,
		begin: func() {
			v.screen.to("VIEW")
			v.screen.press("\t")
			v.screen.until("the pane", func(frame string) bool { return modeOf(frame) == "PANE" })
			v.screen.press("h")
			v.screen.press(rule)
			v.screen.wait(rule)
			v.screen.press("\r")
		},
		acked: func(frame string) bool {
			return regexp.MustCompile(`▌\S ` + regexp.QuoteMeta(rule)).MatchString(frame)
		},
		done: func(l *ledger) { l.rules[rule] = true; v.newest = "" },
	}
}

// save writes the rules to the file.
func (v *victim) save() act {
	return act{
		name: "save",
		begin: func() {
			v.screen.to("VIEW")
			v.screen.press("\x13")
			v.screen.wait("Save these changes?")
			v.answer("y")
		},
		acked: func(frame string) bool { return strings.Contains(footer(frame), "Saved") },
		done:  func(l *ledger) { l.file = maps.Clone(l.rules) },
	}
}

// undo undoes the newest change to the rules, with the message that asked for it.
func (v *victim) undo() act {
	text := v.newest
	rule := v.end.rule(text)
	return act{
		name: "undo " + text,
		begin: func() {
			v.screen.to("VIEW")
			v.screen.press("\x1a")
			v.screen.wait("Undo the assistant's change?")
			v.answer("y")
		},
		acked: func(frame string) bool { return strings.Contains(footer(frame), "rolled back") },
		done: func(l *ledger) {
			l.drop(text)
			delete(l.rules, rule)
			v.newest = ""
		},
	}
}

// answer answers a question once it has been on the screen long enough.
func (v *victim) answer(key string) {
	v.screen.rest(overlay.GuardTime + keyGap)
	v.screen.press(key)
}

// notices returns an action of keys in VIEW that the footer confirms.
func (v *victim) notices(name, said string, keys func(), done func(*ledger)) act {
	return act{
		name: name,
		begin: func() {
			v.screen.to("VIEW")
			v.screen.press("G") // go to the end, which also removes an equal notice
			v.screen.until("no "+said, func(frame string) bool { return !strings.Contains(footer(frame), said) })
			keys()
		},
		acked: func(frame string) bool { return strings.Contains(footer(frame), said) },
		done:  done,
	}
}

func (v *victim) star() act {
	p, _ := v.must.last()
	stars := (p.star + 1 + v.rand.IntN(3)) % 4
	key := strconv.Itoa(stars)
	return v.notices(fmt.Sprintf("star %s %s", p.text, key), assistant.Counted(stars, "star"), func() { v.screen.press(key) },
		func(l *ledger) { l.set(p.text, func(p *entry) { p.star = stars }) })
}

func (v *victim) flag() act {
	p, _ := v.must.last()
	notice := "flagged"
	if p.flag {
		notice = "unflagged: grey"
	}
	return v.notices("flag "+p.text, notice, func() { v.screen.press("a") },
		func(l *ledger) { l.set(p.text, func(p *entry) { p.flag = !p.flag }) })
}

// remove deletes the last pair.
func (v *victim) remove() act {
	p, _ := v.must.last()
	return v.notices("delete "+p.text, "deleted", func() {
		v.screen.press("d")
		if p.state == string(assistant.PairComplete) || p.state == string(assistant.PairPartial) {
			v.screen.wait("for good?") // an answer or several
			v.answer("y")
		}
	}, func(l *ledger) { l.drop(p.text) })
}

// regenerate asks for another answer: the old one is never lost, and stays chosen until the new one is complete.
func (v *victim) regenerate() act {
	p, _ := v.must.last()
	a := v.asksAgain("regenerate", "r", p, nil)
	whole := a.done
	a.done = func(l *ledger) {
		whole(l)
		l.set(p.text, func(e *entry) { e.older = withOlder(p.older, p.answer) })
	}
	a.half = []func(*ledger){func(*ledger) {}}
	if rule := v.end.rule(p.text); rule != "" {
		a.half = append(a.half, func(l *ledger) { l.rules[rule] = true })
	}
	return a
}

// retry sends the message of a failed pair again, in the same pair.
func (v *victim) retry() act {
	p, _ := v.must.last()
	return v.asksAgain("retry", "r", p, nil)
}

// reAsk sends it as a new pair; the failed one is removed.
func (v *victim) reAsk() act {
	p, _ := v.must.last()
	return v.asksAgain("re-ask", "e", p, func() {
		v.screen.until("the message", func(frame string) bool {
			return modeOf(frame) == "INPUT" && strings.Contains(inputBox(frame), p.text)
		})
		v.screen.rest(2 * keyGap)
		v.screen.press(sendKey)
	})
}

// keyGap is the pause between two keys that are typed rather than pasted.
const keyGap = 10 * time.Millisecond

func (v *victim) asksAgain(name, key string, p entry, then func()) act {
	answer := v.end.answer(p.text, v.end.times(p.text)+1)
	v.end.goOn(p.text)
	marks := func(l *ledger, e entry) { // a replacement keeps the marks of the pair
		e.star, e.flag, e.topic = p.star, p.flag, p.topic
		l.put(e)
	}
	whole := func(l *ledger) {
		marks(l, entry{text: p.text, state: string(assistant.PairComplete), answer: answer})
	}
	half := func(l *ledger) {
		marks(l, entry{text: p.text, state: assistant.CodeInterrupted})
	}
	a := act{
		name: name + " " + p.text, asks: true,
		begin: func() {
			v.screen.to("VIEW")
			v.screen.press("G")
			v.screen.press(key)
			if then != nil {
				then()
			}
		},
		acked: func(frame string) bool { return settled(frame, answer) },
		done:  whole, half: []func(*ledger){half},
	}
	if rule := v.end.rule(p.text); rule != "" {
		add := func(f func(*ledger)) func(*ledger) { return func(l *ledger) { f(l); l.rules[rule] = true } }
		a.done, a.half = func(l *ledger) { add(whole)(l); v.newest = "" }, append(a.half, add(half))
	}
	return a
}

// command marks a pair with a command in the filter line.
func (v *victim) command() act {
	p := v.must.pairs[v.rand.IntN(len(v.must.pairs))]
	mark, change, said := "star 0", func(e *entry) { e.star = 0 }, "1 message now has no stars"
	switch v.rand.IntN(4) {
	case 0:
		mark, change, said = "star 3", func(e *entry) { e.star = 3 }, "1 message now has 3 stars"
	case 1:
		mark, change, said = "unflag", func(e *entry) { e.flag = false }, "1 message unflagged"
	case 2:
		v.n++
		topic := fmt.Sprintf("T%d > deep %d", v.lane, v.n)
		mark, change = fmt.Sprintf("topic %q --no-confirm", topic), func(e *entry) { e.topic = topic }
		said = "1 message moved to " + topic
	}
	return v.notices(mark+" "+p.text, said, func() {
		v.screen.press("f")
		v.screen.until("the line", func(frame string) bool { return modeOf(frame) == "COMMAND" })
		line := fmt.Sprintf(" c'%s' :%s", p.text, mark)
		v.screen.press(line)
		v.screen.wait(line)
		v.screen.press("\r")
	}, func(l *ledger) { l.set(p.text, change) })
}

// scripted is an endpoint that answers according to the message.
type scripted struct {
	url string
	mu  sync.Mutex
	got map[string]int  // how often each message has arrived
	all int             // number of messages
	on  map[string]bool // stalling messages that are answered now
	off map[string]bool // messages whose next answers stall
}

func newScripted(t *testing.T) *scripted {
	t.Helper()
	e := &scripted{got: map[string]int{}, on: map[string]bool{}, off: map[string]bool{}}
	never := at.NewGate()
	e.url = at.NewServer(t, func(x *at.Exchange) {
		text, tooled := "", false
		for _, m := range x.Chat.Messages {
			tooled = m.Role == "tool"
			if m.Role == "user" {
				text = m.Content
			}
		}
		n, stalls := e.came(text, tooled)
		switch {
		case stalls:
			at.Stalled(at.TextEvent("half of "+text), never, at.Done)(x)
		case strings.HasPrefix(text, "hide") && !tooled:
			at.Calls(at.Call{Name: "add_ignore_rule", Arguments: fmt.Sprintf(`{"pattern":%q,"provider":%q}`, e.rule(text), provider)})(x)
		default:
			at.Text(e.answer(text, n))(x)
		}
	}).URL
	return e
}

// came records a request; tooled means that it is not the first request for its message.
func (e *scripted) came(text string, tooled bool) (n int, stalls bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !tooled {
		e.got[text]++
		e.all++
	}
	return e.got[text], e.off[text] || strings.HasPrefix(text, "stall") && !e.on[text]
}

// goOn makes the endpoint answer a stalled message from now on.
func (e *scripted) goOn(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.on[text] = true
	delete(e.off, text)
}

// stall makes the endpoint stall when a message that it has answered arrives again.
func (e *scripted) stall(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.off[text] = true
}

// answer returns the answer to a message that arrives for the nth time. If its tool has run, a retry continues
// from there, so the message does not arrive again.
func (e *scripted) answer(text string, n int) string {
	if e.rule(text) != "" {
		n = 1
	}
	return fmt.Sprintf("answer %d to %s", n, strings.TrimSuffix(text, "."))
}

// rule returns the rule that a message adds, or "".
func (e *scripted) rule(text string) string {
	name, ok := strings.CutPrefix(text, "hide ")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(name, ".") + "-*"
}

func (e *scripted) times(text string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.got[text]
}

func (e *scripted) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.all
}
