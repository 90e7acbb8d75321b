package endpoints

import (
	"context"
	"errors"
	"strings"
)

// Source is what a Flow works with: a *Connector.
type Source interface {
	Search(ctx context.Context) []Candidate
	Check(ctx context.Context, c Candidate, address, key string) (*Checked, error)
	Try(ctx context.Context, ch *Checked, id string) error
	Storages() []Storage
	Save(ctx context.Context, ch *Checked, id string, to Storage) (Saved, error)
	SettingsPath() string
}

// Step is a question of a Flow.
type Step int

// The steps, in their usual order.
const (
	Choosing   Step = iota // which candidate
	Addressing             // at which address
	Keying                 // with which key
	Storing                // where the key goes
	Consenting             // whether it may be stored readable
	Picking                // which model
	Done                   // nothing: the model answers
)

// Flow connects a model by one question after the other. A screen and a terminal are its
// faces: they show the Step and give the answer, which leads to the next one. Source is
// needed. Its methods belong to one goroutine and do no I/O; a Job runs on any.
type Flow struct {
	Source Source

	Step    Step
	Problem error // with the last answer; nil for none

	Candidate Candidate
	Address   string // of a Custom candidate
	Key       string // as entered, see ParseKey; "" is the candidate's own, or none
	Checked   *Checked
	Storages  []Storage // that exist here, the best first
	Storage   Storage   // of a pasted key
	Refused   string    // the model that did not answer with this key: chosen again, it is connected all the same
	Saved     Saved
}

// Job does the I/O that an answer needs; apply leads the flow to its next step.
type Job func(ctx context.Context) (apply func())

// ErrNoKey is the Problem of an empty key.
var ErrNoKey = errors.New("a key is needed here")

// Restart leads back to the choice of a candidate.
func (f *Flow) Restart() { *f = Flow{Source: f.Source} }

// Choose answers Choosing. A nil job: the next step asks for more.
func (f *Flow) Choose(c Candidate) Job {
	f.Restart()
	f.Candidate = c
	switch c.Kind {
	case Custom:
		f.Step = Addressing
	case Vendor:
		f.Step = Keying
	case Answers, HasKey, SetUp, Fails:
		return f.check()
	}
	return nil
}

// EnterAddress answers Addressing, or Choosing by the address of another endpoint. A nil
// job: it is a key, which is sent nowhere.
func (f *Flow) EnterAddress(address string) Job {
	f.Restart()
	f.Step, f.Candidate, f.Address = Addressing, Candidate{Kind: Custom}, strings.TrimSpace(address)
	if LooksLikeKey(f.Address) {
		f.Address, f.Problem = "", &Problem{Code: KeyAsAddress}
		return nil
	}
	return f.check()
}

// EnterKey answers Keying. A nil job: there is no key.
func (f *Flow) EnterKey(key string) Job {
	f.Refused, f.Problem = "", nil // that was with another key
	if f.Key = strings.TrimSpace(key); f.Key == "" {
		f.Problem = ErrNoKey
		return nil
	}
	return f.check()
}

// check asks the candidate for its models.
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

// fail leads to where a problem can be solved.
func (f *Flow) fail(err error, from Step) {
	if problem, ok := errors.AsType[*Problem](err); ok && problem.AboutKey() {
		from = Keying
	}
	f.Step, f.Problem = from, err
}

// Store answers Storing.
func (f *Flow) Store(to Storage) {
	f.Storage, f.Step, f.Problem = to, Picking, nil
	if to == Plain {
		f.Step = Consenting
	}
}

// Consent answers Consenting.
func (f *Flow) Consent(yes bool) {
	f.Step = Storing
	if yes {
		f.Step = Picking
	}
}

// Pick answers Picking: the job writes the model, and makes the run use it. A key is tried
// first: not every endpoint checks it when it lists its models.
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

// Back leads back a step; left reports that there was none.
func (f *Flow) Back() (left bool) {
	f.Problem = nil
	switch f.Step {
	case Storing:
		f.Step = Keying
	case Consenting:
		f.Step = Storing
	case Addressing, Keying, Picking:
		f.Restart()
	case Choosing, Done:
		return true
	}
	return false
}
