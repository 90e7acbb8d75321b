package endpoints

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"winnow/assistant/llm"
)

// source answers what it is told to.
type source struct {
	check, try, save error
	asked            string // the last Check
}

func (s *source) Search(context.Context) []Candidate { return nil }

func (s *source) Check(_ context.Context, c Candidate, address, key string) (*Checked, error) {
	s.asked = fmt.Sprintf("%s|%s|%s", c.Name, address, key)
	return &Checked{Name: "here", Pasted: key != "", HasKey: key != "", Models: []llm.ModelInfo{{ID: "here/a"}}}, s.check
}

func (s *source) Try(context.Context, *Checked, string) error { return s.try }
func (s *source) Storages() []Storage                         { return []Storage{Variable, Plain} }
func (s *source) SettingsPath() string                        { return "config.toml" }

func (s *source) Save(_ context.Context, _ *Checked, id string, _ Storage) (Saved, error) {
	return Saved{Model: id}, s.save
}

// Each answer leads to the next question, and each problem to where it can be solved.
func TestTheQuestionsOfAFlow(t *testing.T) {
	is := func(f *Flow, step Step, problem error) {
		t.Helper()
		if f.Step != step || !errors.Is(f.Problem, problem) {
			t.Errorf("step %d, %v; want %d, %v", f.Step, f.Problem, step, problem)
		}
	}
	run := func(job Job) {
		t.Helper()
		if job == nil {
			t.Fatal("nothing is asked")
		}
		job(t.Context())()
	}
	s := &source{}
	f := &Flow{Source: s}
	refused, silent, full := &Problem{Code: RefusedKey}, &Problem{Code: NoAnswer}, &Problem{Code: NotStored}

	if job := f.EnterAddress("sk-pasted-0123456789abcdef"); job != nil || s.asked != "" || f.Address != "" || CodeOf(f.Problem) != KeyAsAddress {
		t.Errorf("a key as an address: %q is asked, %+v", s.asked, f)
	}
	s.check = silent
	run(f.EnterAddress(" localhost:9 "))
	is(f, Addressing, silent)
	f.Back()
	is(f, Choosing, nil)
	s.check = refused
	run(f.EnterAddress("localhost:9"))
	is(f, Keying, refused)
	s.check = nil
	run(f.EnterKey("right"))
	f.Store(Variable)
	for _, step := range []Step{Storing, Keying, Addressing, Choosing} {
		f.Back()
		is(f, step, nil)
		if (f.Address == "localhost:9") != (step != Choosing) {
			t.Errorf("back at step %d the address is %q", step, f.Address)
		}
	}

	s.check = refused
	run(f.Choose(Candidate{Kind: KindSetUp, Name: "proxy"}))
	is(f, Keying, refused)

	f.Choose(Candidate{Kind: KindVendor, Name: "openai"})
	is(f, Keying, nil)
	if f.EnterKey(" ") != nil {
		t.Error("no key is tried")
	}
	run(f.EnterKey("wrong"))
	is(f, Keying, refused)
	s.check = nil
	run(f.EnterKey("right"))
	if is(f, Storing, nil); s.asked != "openai||right" {
		t.Errorf("asked %q", s.asked)
	}
	f.Store(Plain)
	is(f, Consenting, nil)
	f.Consent(false)
	is(f, Storing, nil)
	f.Store(Variable)
	is(f, Picking, nil)

	s.try = silent
	run(f.Pick("here/a"))
	is(f, Picking, silent)
	s.save = full
	run(f.Pick("here/a")) // is not tried again
	is(f, Storing, full)
	s.save, s.try = nil, nil
	f.Store(Variable)
	run(f.Pick("here/a"))
	if is(f, Done, nil); f.Saved.Model != "here/a" || f.Key != "" {
		t.Errorf("done: %+v", f)
	}

	run(f.Choose(Candidate{Kind: KindResponds, Name: "ollama"}))
	is(f, Picking, nil)
}
