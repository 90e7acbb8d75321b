package endpoints

import (
	"context"
	"errors"
	"strings"
)

// Source is what a Flow works with; *Connector implements it.
type Source interface {
	Search(ctx context.Context) []Candidate
	Check(ctx context.Context, c Candidate, address, key string) (*Checked, error)
	Try(ctx context.Context, ch *Checked, id string) error
	Storages() []Storage
	Save(ctx context.Context, ch *Checked, id string, place Storage) (Saved, error)
	SettingsPath() string
}

// Step is a question of a Flow.
type Step int

// The steps, in their usual order.
const (
	Choosing   Step = iota // which candidate to connect
	Addressing             // the address of a custom endpoint
	Keying                 // the key to use
	Storing                // where to store the key
	Consenting             // whether the key may be stored as plain text
	Picking                // which model to use
	Done                   // no question: the model is connected
)

// Flow connects a model by asking one question after another. A front end, the screen or the command line, shows the
// Step and passes on the answer, which leads to the next step. Source is required. The methods must be called from one
// goroutine and do no I/O; a Job may run in any goroutine.
type Flow struct {
	Source Source

	Step    Step
	Problem error // the problem with the last answer, or nil

	Candidate Candidate
	Address   string // address of a Custom candidate
	Key       string // as entered, see ParseKey; "" means the candidate's own key, if any
	Checked   *Checked
	Storages  []Storage // the available storages, best first
	Storage   Storage   // where to store a pasted key
	Refused   string    // the model that failed when tried with this key; choosing it again saves it without another try
	Saved     Saved
}

// Job does the I/O that an answer requires; apply then moves the flow to its next step.
type Job func(ctx context.Context) (apply func())

// ErrNoKey is the Problem of a Flow if the user entered an empty key.
var ErrNoKey = errors.New("a key is needed")

// Restart goes back to the choice of a candidate.
func (f *Flow) Restart() { *f = Flow{Source: f.Source} }

// Choose handles the candidate chosen in the step Choosing. It returns a nil Job if the next step asks for more.
func (f *Flow) Choose(c Candidate) Job {
	f.Restart()
	f.Candidate = c
	switch c.Kind {
	case KindCustom:
		f.Step = Addressing
	case KindVendor:
		f.Step = Keying
	case KindResponds, KindHasKey, KindSetUp, KindFails:
		return f.check()
	}
	return nil
}

// EnterAddress handles the address entered in the step Addressing, or in Choosing in place of a candidate. It returns a
// nil Job if the address looks like a key, which is not sent anywhere.
func (f *Flow) EnterAddress(address string) Job {
	f.Restart()
	f.Step, f.Candidate, f.Address = Addressing, Candidate{Kind: KindCustom}, strings.TrimSpace(address)
	if LooksLikeKey(f.Address) {
		f.Address, f.Problem = "", &Problem{Code: KeyAsAddress}
		return nil
	}
	return f.check()
}

// EnterKey handles the key entered in the step Keying. It returns a nil Job if the key is empty.
func (f *Flow) EnterKey(key string) Job {
	f.Refused, f.Problem = "", nil // both refer to the previous key
	if f.Key = strings.TrimSpace(key); f.Key == "" {
		f.Problem = ErrNoKey
		return nil
	}
	return f.check()
}

// check returns a Job that asks the candidate for its models.
func (f *Flow) check() Job {
	candidate, address, key, from := f.Candidate, f.Address, f.Key, f.Step
	return func(ctx context.Context) func() {
		checked, err := f.Source.Check(ctx, candidate, address, key)
		storages := f.Source.Storages()
		return func() {
			switch f.Checked, f.Storages = checked, storages; {
			case err != nil:
				f.fail(err, from)
			case checked.Pasted:
				f.Step, f.Problem = Storing, nil
			default:
				f.Step, f.Problem = Picking, nil
			}
		}
	}
}

// fail moves to the step at which the problem can be solved.
func (f *Flow) fail(err error, from Step) {
	if problem, ok := errors.AsType[*Problem](err); ok && problem.AboutKey() {
		from = Keying
	}
	f.Step, f.Problem = from, err
}

// Store handles the answer to the step Storing: where to store the key.
func (f *Flow) Store(to Storage) {
	f.Storage, f.Step, f.Problem = to, Picking, nil
	if to == Plain {
		f.Step = Consenting
	}
}

// Consent handles the answer to the step Consenting: whether to store the key as plain text.
func (f *Flow) Consent(yes bool) {
	f.Step = Storing
	if yes {
		f.Step = Picking
	}
}

// Pick handles the model picked in the step Picking. The Job writes the model to the settings and makes the run use it.
// If there is a key and the model is not the Refused one, the Job tries the model first, because not every endpoint
// checks the key when it lists its models.
func (f *Flow) Pick(id string) Job {
	checked, storage, try := f.Checked, f.Storage, f.Checked.HasKey && id != f.Refused
	f.Problem = nil
	return func(ctx context.Context) func() {
		if try {
			if err := f.Source.Try(ctx, checked, id); err != nil {
				return func() {
					f.fail(err, Picking)
					f.Refused = id
				}
			}
		}
		saved, err := f.Source.Save(ctx, checked, id, storage)
		return func() {
			switch {
			case err == nil:
				f.Saved, f.Key, f.Step = saved, "", Done
			case checked.Pasted:
				f.fail(err, Storing)
			default:
				f.fail(err, Picking)
			}
		}
	}
}

// Back goes back one step; left reports that there was no earlier step.
func (f *Flow) Back() (left bool) {
	f.Problem = nil
	switch f.Step {
	case Storing:
		f.Step = Keying
	case Consenting:
		f.Step = Storing
	case Picking, Keying:
		f.backOneStep()
	case Addressing:
		f.Restart()
	case Choosing, Done:
		return true
	}
	return false
}

// backOneStep goes back from Picking or Keying: to Storing if Picking followed it, to Addressing if an address was
// entered, or else to Choosing.
func (f *Flow) backOneStep() {
	switch {
	case f.Step == Picking && f.Checked.Pasted:
		f.Step = Storing
	case f.Address != "":
		f.Step, f.Key = Addressing, ""
	default:
		f.Restart()
	}
}
