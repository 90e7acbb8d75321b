package connectcard

import (
	"context"
	"slices"

	"winnow/adapters/endpoints"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
)

// Connector is the part of an *endpoints.Connector that a Card needs.
type Connector interface {
	endpoints.Source
	// Host returns the host that serves a model; "" if no host is known.
	Host(id string) string
	// Connected reports whether the user set up an endpoint.
	Connected() bool
	// Offline reports whether a model is the built-in model.
	Offline(id string) bool
}

// Useful reports whether the card is useful: no model or only the built-in model is
// selected, and c can connect another. If c is nil, no model can be connected.
func Useful(c Connector, model string) bool { return c != nil && (model == "" || c.Offline(model)) }

// Card is the overlay. Create it with New.
type Card struct {
	flow endpoints.Flow
	keys *keymap.Map

	list    *overlay.Picker // list of the current step, if the step has a list
	line    overlay.Editor  // the address or the key that is being entered
	problem string          // what was wrong with the last answer; "" if nothing
	reason  string          // why a key is needed; "" if that is obvious
	width   int             // width of the line when last drawn
	top     int             // row where the list or the line starts when last drawn

	found     []endpoints.Candidate
	searching bool

	busy   string // what the card is waiting for; "" if nothing
	cancel context.CancelFunc
	job    int // number of the newest job
}

// New returns a card that lists no endpoints yet; Start searches for them.
func New(c Connector) *Card {
	card := &Card{flow: endpoints.Flow{Source: c}, searching: true}
	card.showCandidates()
	return card
}

// Start searches for endpoints, and lists them unless the user has moved on.
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

// work runs a job of the flow outside the update loop and waits for it; esc cancels its
// context. The result is shown unless the user has moved on. A nil job completes at once.
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

// check runs a job that asks the candidate for its models.
func (c *Card) check(job endpoints.Job) overlay.Outcome {
	name := c.flow.Candidate.Name
	if name == "" {
		name = string(safetext.Visible(c.flow.Address))
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

// search handles a key in the list of candidates, which is filtered by the typed text.
func (c *Card) search(name keymap.Key, text string) overlay.Outcome {
	if name == "" && endpoints.LooksLikeKey(c.query()+text) {
		c.problem = Sentence(&endpoints.Problem{Code: endpoints.KeyAsAddress})
		return overlay.Stay{}
	}
	before := c.list.Query()
	out := c.list.Key(name, text)
	if c.list.Query() != before {
		c.problem = "" // the problem was about another choice
		c.list.SetEntries(c.candidates(), 0)
		c.list.Scroll(-len(c.found)) // selects the best match
	}
	return c.choose(out)
}

// Escape implements overlay.Overlay: it cancels the current job, or goes back a step; at
// the first step it closes the card.
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

// show shows the current step of the flow.
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

// choose handles an outcome of the list.
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
		return c.work(string("asking "+safetext.Visible(chosen.Value)+" for one word"), c.flow.Pick(chosen.Value))
	case endpoints.Addressing, endpoints.Keying, endpoints.Consenting, endpoints.Done: // these steps have no list
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
		c.line.Insert(string(safetext.Line(text, maxLength)))
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

// newList returns a list for the card.
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

// hasList reports whether the current step has a list.
func (c *Card) hasList() bool {
	return c.busy == "" && (c.flow.Step == endpoints.Choosing || c.flow.Step == endpoints.Storing || c.flow.Step == endpoints.Picking)
}

// writes reports whether an address or a key is being entered.
func (c *Card) writes() bool {
	return c.busy == "" && (c.flow.Step == endpoints.Addressing || c.flow.Step == endpoints.Keying)
}
