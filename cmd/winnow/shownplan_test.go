package main

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	at "winnow/assistant/assistanttest"
)

// ruleLine matches a line of the file with rules.
var ruleLine = regexp.MustCompile(`(?m)^((?:IGNORE|WHITELIST)_MODELS_[A-Z]+)=.*\n`)

// holds returns an error unless after equals before with the lines of the plan applied, byte for byte.
func (p *shownPlan) holds(before, after string) error {
	now := map[string]string{}
	for _, l := range ruleLine.FindAllStringSubmatch(after, -1) {
		now[l[1]] = strings.TrimSuffix(l[0], "\n")
	}
	for name, line := range p.lines {
		if now[name] != line {
			return fmt.Errorf("%s: the file has %q, shown was %q", name, now[name], line)
		}
	}
	rest := func(file string) string {
		return ruleLine.ReplaceAllStringFunc(file, func(line string) string {
			name, _, _ := strings.Cut(line, "=")
			if _, changed := p.lines[name]; changed {
				return ""
			}
			return line
		})
	}
	if rest(before) != rest(after) {
		return errors.New("other lines than those that were shown were written")
	}
	return nil
}

// TestEveryFrontEndSavesWhatItShowed edits, sends, writes the file as another program, plans and saves at random: on
// the screen with keys, over HTTP, as an agent and on the command line. A save writes the lines that this front end
// showed last and leaves all others unchanged, or it writes nothing.
func TestEveryFrontEndSavesWhatItShowed(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue { // each check opens four programs
		if err := f.Value.Set(strconv.Itoa(at.Rounds(3, 30))); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(f.DefValue) }()
	}
	ownFolder(t)
	names := []string{"screen", "http", "mcp", "rules"}
	saved, refused := map[string]int{}, map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		o := newOffice(t)
		defer o.close()
		shown, again := map[string]*shownPlan{}, map[string]int{} // what each front end showed last, and the step before which it was shown again after a refusal
		for i := range rapid.IntRange(30, 60).Draw(rt, "steps") {
			name := rapid.SampledFrom(names).Draw(rt, "front end")
			s, before := o.savers[name], o.read()
			switch rapid.SampledFrom([]string{"edit", "send", "outside", "save", "save", "save", "save", "save"}).Draw(rt, "step") {
			case "edit":
				s.edit(fmt.Sprintf("x%02d*", i))
				if name == "screen" {
					shown[name] = nil // the open question prevented it
				}
			case "send":
				o.savers["http"].(*client).send(fmt.Sprintf("hide y%02d*", i))
			case "outside":
				o.write(before + rapid.SampledFrom([]string{fmt.Sprintf("OTHER=%d\n", i), fmt.Sprintf("IGNORE_MODELS_GEMINI=theirs%d\n", i), "# a note\n"}).Draw(rt, "lines"))
			case "save":
				plan := shown[name]
				if plan == nil {
					shown[name] = s.plan() // may not include what another program has just done
					break
				}
				shown[name] = s.save(plan)
				after := o.read()
				if after != before {
					saved[name]++
					if err := plan.holds(before, after); err != nil {
						rt.Fatalf("%s: %v\nbefore:\n%s\nafter:\n%s", name, err, before, after)
					}
					break
				}
				if refused[name]++; again[name] == i && i > 0 {
					rt.Fatalf("%s does not save what it showed last, although nothing has changed: %v, now %v", name, plan, shown[name])
				}
				again[name] = i + 1
			}
		}
	})
	t.Logf("saved %v, refused %v", saved, refused)
}

// If another user or program changes something after it was shown, it is not written: each front end shows the new
// plan, and then saves it.
func TestEveryFrontEndAsksAgain(t *testing.T) {
	ownFolder(t)
	for _, name := range []string{"screen", "http", "mcp", "rules"} {
		for other, change := range map[string]func(o *office){
			"another user":    func(o *office) { o.savers["http"].edit("x02*") },
			"another program": func(o *office) { o.savers["rules"].edit("x02*") },
		} {
			t.Run(name+", "+other, func(t *testing.T) {
				o := newOffice(t)
				defer o.close()
				s, before := o.savers[name], o.read()
				s.edit("x01*")
				plan := s.plan()
				if plan == nil || !strings.Contains(fmt.Sprint(plan.lines), "x01*") {
					t.Fatalf("the plan is %+v", plan)
				}
				change(o)
				changed := o.read()
				again := s.save(plan)
				if o.read() != changed {
					t.Fatalf("what was not shown is written: %s", o.read())
				}
				if name == "mcp" { // the agent is told to call the tool again
					again = s.plan()
				}
				if again == nil || fmt.Sprint(again.lines) == fmt.Sprint(plan.lines) {
					t.Fatalf("shown again is %+v, first was %+v", again, plan)
				}
				s.save(again)
				if err := again.holds(changed, o.read()); err != nil || o.read() == before {
					t.Error(err)
				}
			})
		}
	}
}
