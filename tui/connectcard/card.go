package connectcard

import (
	"context"
	"slices"

	"winnow/adapters/endpoints"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/textline"
)

// Connector is what a Card works with: a *endpoints.Connector.
type Connector interface {
	endpoints.Source
	// Host is the host that serves a model; "" for none.
	Host(id string) string
	// Offline reports whether a model is the built-in one.
	Offline(id string) bool
}

// Useful reports whether no model or the built-in one answers, and another could be
// connected. c may be nil.
func Useful(c Connector, model string) bool { return c != nil && (model == "" || c.Offline(model)) }

// Card is the overlay. Make it with New.
type Card struct {
	flow endpoints.Flow
	keys *keymap.Map

	list    *overlay.Picker // of the steps that choose
	line    textline.Editor // the address or the key
	problem string          // of the last answer
	reason  string          // why a key is asked for; "" where that is plain
	width   int             // of the line, as drawn last
	top     int             // where the list or the line begins, as drawn last

	found     []endpoints.Candidate
	searching bool

	busy   string // what is waited for; "" is nothing
	cancel context.CancelFunc
	job    int // the number of the newest work
}

// New makes a card.
func New(c Connector) *Card {
	card := &Card{flow: endpoints.Flow{Source: c}, searching: true}
	card.showCandidates()
	return card
}

// Start searches for candidates.
func (c *Card) Start() overlay.Outcome {
	return overlay.Work{Run: func() func() {
		found := c.flow.Source.Search(context.Background())
		return func() {
			c.found, c.searching = found, false
			switch {
			case c.flow.Step != endpoints.Choosing || c.busy != "":
			case c.query() == "":
				c.showCandidates()
			default:
				c.list.SetEntries(c.candidates(), 0)
			}
		}
	}}
}

// work runs a job of the flow outside of the update loop and waits for it; esc ends its
// context. Its result is shown, unless the user has gone on. A nil job is done at once.
func (c *Card) work(busy string, job endpoints.Job) overlay.Outcome {
	if job == nil {
		c.show()
		return overlay.Stay{}
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.job++
	n := c.job
	c.busy, c.cancel, c.problem = busy, cancel, ""
	return overlay.Work{Run: func() func() {
		defer cancel()
		apply := job(ctx)
		return func() {
			if c.busy != "" && c.job == n {
				c.busy = ""
				apply()
				c.show()
			}
		}
	}}
}

// check waits for the models of the candidate.
func (c *Card) check(job endpoints.Job) overlay.Outcome {
	name := c.flow.Candidate.Name
	if name == "" {
		name = safetext.Visible(c.flow.Address)
	}
	return c.work("asking "+name+" for its models", job)
}

// Key implements overlay.Overlay.
func (c *Card) Key(name keymap.Key, text string) overlay.Outcome {
	action := c.keys.Action(keymap.List, name)
	switch {
	case action == keymap.LineClose:
		return c.Escape()
	case c.busy != "":
		return overlay.Stay{}
	}
	switch c.flow.Step {
	case endpoints.Choosing:
		return c.search(name, text)
	case endpoints.Addressing, endpoints.Keying:
		return c.write(name, text)
	case endpoints.Storing, endpoints.Picking:
		return c.choose(c.list.Key(name, text))
	case endpoints.Consenting:
		if answer := c.keys.Action(keymap.Question, name); answer == keymap.AnswerYes || answer == keymap.AnswerNo {
			c.flow.Consent(answer == keymap.AnswerYes)
			c.show()
		}
	case endpoints.Done:
		if action == keymap.LineAccept {
			return overlay.Chosen{Value: c.flow.Saved.Model}
		}
	}
	return overlay.Stay{}
}

// search handles a key of the list of candidates, which are searched by what is typed.
func (c *Card) search(name keymap.Key, text string) overlay.Outcome {
	if name == "" && endpoints.LooksLikeKey(c.query()+text) {
		c.problem = Sentence(&endpoints.Problem{Code: endpoints.KeyAsAddress})
		return overlay.Stay{}
	}
	before := c.list.Query()
	out := c.list.Key(name, text)
	if c.list.Query() != before {
		c.list.SetEntries(c.candidates(), 0)
		c.list.Scroll(-len(c.found)) // to the best match
	}
	return c.choose(out)
}

// Escape implements overlay.Overlay: it stops what is waited for, or goes back a step; from the first it closes the card.
func (c *Card) Escape() overlay.Outcome {
	switch {
	case c.busy != "":
		c.cancel()
		c.busy = ""
	case c.flow.Back():
		return overlay.Chosen{Value: c.flow.Saved.Model}
	}
	c.show()
	return overlay.Stay{}
}

// show begins the step of the flow.
func (c *Card) show() {
	c.problem, c.reason = "", ""
	switch err := c.flow.Problem; {
	case c.flow.Key == "" && endpoints.CodeOf(err) == endpoints.WantsKey: // the user has done nothing wrong
		c.reason = Sentence(err) + "."
	case err != nil:
		c.problem = Sentence(err)
	}
	switch c.flow.Step {
	case endpoints.Choosing:
		c.showCandidates()
	case endpoints.Addressing:
		c.line.Set(c.flow.Address)
	case endpoints.Keying:
		c.line.Set("")
	case endpoints.Storing:
		c.showStorages()
	case endpoints.Picking:
		c.showModels()
	case endpoints.Consenting, endpoints.Done:
	}
}

// choose does what an outcome of the list means.
func (c *Card) choose(out overlay.Outcome) overlay.Outcome {
	chosen, ok := out.(overlay.Chosen)
	if !ok {
		return out
	}
	switch c.flow.Step {
	case endpoints.Choosing:
		if chosen.Value == addressValue {
			return c.check(c.flow.EnterAddress(c.list.Query()))
		}
		if i := slices.IndexFunc(c.found, func(one endpoints.Candidate) bool { return candidateValue(one) == chosen.Value }); i >= 0 {
			return c.check(c.flow.Choose(c.found[i]))
		}
	case endpoints.Storing:
		has := c.flow.Storages
		c.flow.Store(has[slices.IndexFunc(has, func(s endpoints.Storage) bool { return storageValue(s) == chosen.Value })])
		c.show()
	case endpoints.Picking:
		return c.work("asking "+safetext.Visible(chosen.Value)+" for one word", c.flow.Pick(chosen.Value))
	case endpoints.Addressing, endpoints.Keying, endpoints.Consenting, endpoints.Done: // they have no list
	}
	return overlay.Stay{}
}

// write edits the address or the key.
func (c *Card) write(name keymap.Key, text string) overlay.Outcome {
	const maxLength = 2000 // cells
	accepted := c.keys.Action(keymap.Line, name) == keymap.LineAccept
	switch {
	case accepted && c.flow.Step == endpoints.Addressing:
		return c.check(c.flow.EnterAddress(c.line.Text()))
	case accepted:
		return c.check(c.flow.EnterKey(c.line.Text()))
	case c.line.Do(c.keys.Action(keymap.Editing, name)):
	default:
		c.line.Insert(safetext.Line(text, maxLength))
	}
	return overlay.Stay{}
}

// SetKeys implements overlay.Overlay.
func (c *Card) SetKeys(keys *keymap.Map) {
	c.keys = keys
	if c.list != nil {
		c.list.SetKeys(keys)
	}
}

// newList makes a list of the card.
func (c *Card) newList(entries []overlay.Entry, at int) *overlay.Picker {
	list := overlay.NewPicker("", entries, at)
	list.SetKeys(c.keys)
	return list
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
func (c *Card) hasList() bool {
	return c.busy == "" && (c.flow.Step == endpoints.Choosing || c.flow.Step == endpoints.Storing || c.flow.Step == endpoints.Picking)
}

// writes reports whether an address or a key is entered.
func (c *Card) writes() bool {
	return c.busy == "" && (c.flow.Step == endpoints.Addressing || c.flow.Step == endpoints.Keying)
}
