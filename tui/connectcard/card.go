package connectcard

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"winnow/adapters/connect"
	"winnow/assistant/safetext"
	"winnow/tui/overlay"
	"winnow/tui/textline"
)

// Connector is what a Card works with: a *connect.Connector.
type Connector interface {
	Search(ctx context.Context) []connect.Candidate
	Check(ctx context.Context, c connect.Candidate, address, key string) (*connect.Checked, error)
	Try(ctx context.Context, ch *connect.Checked, id string) error
	Storages() []connect.Storage
	Save(ctx context.Context, ch *connect.Checked, id string, to connect.Storage) (connect.Saved, error)
	Dismiss(ctx context.Context) error
	// Offline reports whether a model is the built-in one.
	Offline(id string) bool
	SettingsPath() string
}

// Useful reports whether no model or the built-in one answers, and another could be
// connected. c may be nil.
func Useful(c Connector, model string) bool { return c != nil && (model == "" || c.Offline(model)) }

// step is what a Card asks.
type step int

const (
	choosing   step = iota // which candidate
	addressing             // at which address
	keying                 // with which key
	storing                // where the key goes
	consenting             // whether it may be stored readable
	picking                // which model
	waiting                // nothing: an answer is on the way
	done                   // nothing: the model answers
)

// Card is the overlay. Make it with New.
type Card struct {
	conn    Connector
	offered bool // it opened by itself: what is typed is a message
	now     func() time.Time
	lastKey time.Time

	step    step
	list    *overlay.Picker // of the steps that choose
	line    textline.Editor // the address or the key
	problem string          // of the last answer
	reason  string          // why a key is asked for; "" where that is plain
	width   int             // of the line, as drawn last
	top     int             // where the list or the line begins, as drawn last

	found     []connect.Candidate
	searching bool
	candidate connect.Candidate
	address   string
	key       string
	checked   *connect.Checked
	storages  []connect.Storage
	storage   connect.Storage
	refused   string // the model that did not answer with this key: chosen again, it is connected all the same
	saved     connect.Saved

	busy   string // what is waited for
	back   step   // where esc leads from there
	cancel context.CancelFunc
	job    int // the number of the newest work
}

// New makes a card. An offered one opened by itself: text that is typed closes it. now is
// the clock.
func New(c Connector, offered bool, now func() time.Time) *Card {
	card := &Card{conn: c, offered: offered, now: now, lastKey: now(), searching: true}
	card.showCandidates()
	return card
}

// Start searches for candidates.
func (c *Card) Start() overlay.Outcome {
	return overlay.Work{Run: func() func() {
		found := c.conn.Search(context.Background())
		return func() {
			c.found, c.searching = found, false
			switch {
			case c.step != choosing:
			case c.query() == "":
				c.showCandidates()
			default:
				c.list.SetEntries(c.candidates())
			}
		}
	}}
}

// work runs do outside of the update loop and waits for it; esc ends its context and leads
// back. The function that do returns shows the result, unless the user has gone on.
func (c *Card) work(busy string, back step, do func(context.Context) func()) overlay.Outcome {
	ctx, cancel := context.WithCancel(context.Background())
	c.job++
	job := c.job
	c.step, c.busy, c.back, c.cancel, c.problem = waiting, busy, back, cancel, ""
	return overlay.Work{Run: func() func() {
		defer cancel()
		show := do(ctx)
		return func() {
			if c.step == waiting && c.job == job {
				show()
			}
		}
	}}
}

// Key implements overlay.Overlay.
func (c *Card) Key(name, text string) overlay.Outcome {
	typedAhead := c.now().Sub(c.lastKey) < overlay.GuardTime
	c.lastKey = c.now()
	switch {
	case name == "esc":
		return c.escape()
	case c.step == waiting:
		return overlay.Stay{}
	case c.step == done:
		if name == "enter" {
			return overlay.Chosen{Value: c.saved.Model}
		}
		return overlay.Stay{}
	case c.step == consenting:
		return c.consent(name)
	case c.step == addressing || c.step == keying:
		return c.write(name, text)
	case c.step == choosing && c.offered && name == "enter" && typedAhead:
		return overlay.Stay{} // it was meant for the box
	case c.step == choosing && connect.LooksLikeKey(c.query()+text) && name == "":
		c.problem = Sentence(&connect.Problem{Code: connect.KeyAsAddress})
		return overlay.Stay{}
	case c.step == choosing && c.offered && name == "" && connect.IsAddress(text):
		c.offered = false // the user has begun
	case c.step == choosing && c.offered && (text != "" || name == ""):
		return overlay.Chosen{Query: text}
	}
	before := c.list.Query()
	out := c.list.Key(name, text)
	if c.step == choosing && c.list.Query() != before {
		c.list.SetEntries(c.candidates())
		c.list.Scroll(-len(c.found)) // to the best match
	}
	return c.choose(out)
}

// escape goes back a step; from the first it closes the card.
func (c *Card) escape() overlay.Outcome {
	c.problem = ""
	switch c.step {
	case choosing:
		return overlay.Chosen{}
	case done:
		return overlay.Chosen{Value: c.saved.Model}
	case waiting:
		c.cancel()
		c.show(c.back)
	case storing:
		c.show(keying)
	case consenting:
		c.show(storing)
	case addressing, keying, picking:
		c.offered = false // the user has begun
		c.show(choosing)
	}
	return overlay.Stay{}
}

// show begins a step.
func (c *Card) show(s step) {
	c.step = s
	switch s {
	case choosing:
		c.address, c.key, c.refused, c.reason = "", "", "", ""
		c.showCandidates()
	case addressing:
		c.line.Set(c.address)
	case keying:
		c.line.Set("")
	case storing:
		c.showStorages()
	case picking:
		c.showModels()
	case consenting, waiting, done:
	}
}

// choose does what an outcome of the list means.
func (c *Card) choose(out overlay.Outcome) overlay.Outcome {
	chosen, ok := out.(overlay.Chosen)
	if !ok {
		return out
	}
	c.problem = ""
	switch c.step {
	case choosing:
		return c.chooseCandidate(chosen.Value)
	case storing:
		i := slices.IndexFunc(c.storages, func(s connect.Storage) bool { return storageValue(s) == chosen.Value })
		if c.storage = c.storages[i]; c.storage == connect.Plain {
			c.show(consenting)
		} else {
			c.show(picking)
		}
	case picking:
		return c.connect(chosen.Value)
	case addressing, keying, consenting, waiting, done: // they have no list
	}
	return overlay.Stay{}
}

func (c *Card) chooseCandidate(value string) overlay.Outcome {
	if value == addressValue {
		c.candidate, c.key, c.address = connect.Candidate{Kind: connect.Custom}, "", strings.TrimSpace(c.list.Query())
		return c.check(addressing)
	}
	i := slices.IndexFunc(c.found, func(one connect.Candidate) bool { return candidateValue(one) == value })
	if i < 0 {
		return overlay.Stay{}
	}
	c.candidate, c.key, c.address = c.found[i], "", ""
	switch c.candidate.Kind {
	case connect.Custom:
		c.show(addressing)
	case connect.Vendor:
		c.show(keying)
	case connect.Answers, connect.HasKey, connect.SetUp, connect.Fails:
		return c.check(choosing)
	}
	return overlay.Stay{}
}

// write edits the address or the key.
func (c *Card) write(name, text string) overlay.Outcome {
	const maxLength = 2000 // cells
	switch {
	case name == "enter" && c.step == addressing:
		c.address = strings.TrimSpace(c.line.Text())
		if connect.LooksLikeKey(c.address) {
			c.address, c.problem = "", Sentence(&connect.Problem{Code: connect.KeyAsAddress})
			c.line.Set("")
			return overlay.Stay{}
		}
		return c.check(addressing)
	case name == "enter":
		if c.key = strings.TrimSpace(c.line.Text()); c.key == "" {
			c.problem = "a key is needed here"
			return overlay.Stay{}
		}
		c.refused = "" // that was with another key
		return c.check(keying)
	case c.line.Key(name):
	default:
		c.line.Insert(safetext.Line(text, maxLength))
	}
	return overlay.Stay{}
}

// check asks the candidate for its models.
func (c *Card) check(from step) overlay.Outcome {
	candidate, address, key := c.candidate, c.address, c.key
	name := candidate.Name
	if name == "" {
		name = safetext.Visible(address)
	}
	return c.work("asking "+name+" for its models", from, func(ctx context.Context) func() {
		checked, err := c.conn.Check(ctx, candidate, address, key)
		return func() {
			if c.checked = checked; err != nil {
				c.fail(err, from)
				return
			}
			c.storages = c.conn.Storages()
			if c.offered = false; checked.Pasted {
				c.show(storing)
			} else {
				c.show(picking)
			}
		}
	})
}

// fail shows a problem where it can be mended.
func (c *Card) fail(err error, from step) {
	if problem, ok := errors.AsType[*connect.Problem](err); ok && problem.AboutKey() {
		from = keying
	}
	c.show(from)
	if c.key == "" && connect.CodeOf(err) == connect.WantsKey { // the user has done nothing wrong
		c.reason = Sentence(err) + "."
		return
	}
	c.problem = Sentence(err)
}

// consent answers whether the key may be stored readable.
func (c *Card) consent(name string) overlay.Outcome {
	switch name {
	case "y":
		c.show(picking)
	case "n":
		c.show(storing)
	}
	return overlay.Stay{}
}

// connect has a model written and used. A key is tried first: not every endpoint checks
// it when it lists its models.
func (c *Card) connect(id string) overlay.Outcome {
	checked, storage := c.checked, c.storage
	try := checked.HasKey && id != c.refused
	return c.work("asking "+safetext.Visible(id)+" for one word", picking, func(ctx context.Context) func() {
		if try {
			if err := c.conn.Try(ctx, checked, id); err != nil {
				return func() {
					c.fail(err, picking)
					c.refused = id
				}
			}
		}
		saved, err := c.conn.Save(ctx, checked, id, storage)
		return func() {
			switch {
			case err == nil:
				c.saved, c.key = saved, ""
				c.show(done)
			case checked.Pasted:
				c.fail(err, storing)
			default:
				c.fail(err, picking)
			}
		}
	})
}

// Title implements overlay.Overlay.
func (c *Card) Title() string { return "Connect a model" }

// Click implements overlay.Overlay.
func (c *Card) Click(y int) overlay.Outcome {
	if !c.hasList() {
		return overlay.Stay{}
	}
	return c.choose(c.list.Click(y - c.top))
}

// Scroll implements overlay.Overlay.
func (c *Card) Scroll(n int) {
	if c.hasList() {
		c.list.Scroll(n)
	}
}

// hasList reports whether the step chooses from the list.
func (c *Card) hasList() bool { return c.step == choosing || c.step == storing || c.step == picking }
