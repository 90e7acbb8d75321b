package fleet

import (
	"context"
	"slices"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
)

// Target is a proxy whose rules can be read and set.
type Target interface {
	Name() string
	// Export returns the rules in force and the models.
	Export(ctx context.Context) (modelfilter.Exported, error)
	// Stage replaces the rules of some providers. It returns the plan of a save, and the user in whose name the rules
	// were staged; "" if unknown.
	Stage(ctx context.Context, rules []Rules) (plan assistant.SavePlan, user string, err error)
	// Save saves the plan with this digest, and no other.
	Save(ctx context.Context, digest string) (assistant.Saved, error)
	// Discard discards the staged changes if they are the plan with this digest.
	Discard(ctx context.Context, digest string) error
}

// Rules contains all ignore and allow rules of one provider.
type Rules struct {
	Provider      string
	Ignore, Allow []string
}

// Difference lists the differences between two targets.
type Difference struct {
	Rules  []RuleDifference  `json:"rules"`
	Models []ModelDifference `json:"models"`
	// Unknown lists the providers whose models cannot be compared, because one of the targets has no list of them.
	Unknown []string `json:"unknown"`
}

// Empty reports whether nothing differs.
func (d Difference) Empty() bool { return len(d.Rules)+len(d.Models) == 0 }

// ForProvider returns the part of a difference that concerns one provider.
func (d Difference) ForProvider(provider string) Difference {
	provider = strings.ToLower(provider)
	return Difference{
		Rules:   slices.DeleteFunc(slices.Clone(d.Rules), func(r RuleDifference) bool { return r.Provider != provider }),
		Models:  slices.DeleteFunc(slices.Clone(d.Models), func(m ModelDifference) bool { return m.Provider != provider }),
		Unknown: slices.DeleteFunc(slices.Clone(d.Unknown), func(name string) bool { return name != provider }),
	}
}

// RuleDifference is a rule that only one of two targets has.
type RuleDifference struct {
	Provider string `json:"provider"`
	Type     string `json:"type"` // "ignore" or "whitelist"
	Pattern  string `json:"pattern"`
	Only     string `json:"only"` // the target that has it
}

// The states of a model that a target does not show.
const (
	Hidden = "hidden"
	Absent = "absent" // the provider does not list it for this target
)

// ModelDifference is a model that only one of two targets shows.
type ModelDifference struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Shown    string `json:"shown"` // the target that shows it
	Other    string `json:"other"` // its state on the other target: Hidden or Absent
}

// Compare compares two targets. a and b are their names; ofA and ofB are the results of Export.
func Compare(a, b string, ofA, ofB modelfilter.Exported) Difference {
	d := Difference{Rules: []RuleDifference{}, Models: []ModelDifference{}, Unknown: []string{}}
	for _, provider := range providers(ofA, ofB) {
		inA, _ := providerOf(ofA, provider)
		inB, _ := providerOf(ofB, provider)
		d.rules(provider, "ignore", a, b, inA.Ignore, inB.Ignore)
		d.rules(provider, "whitelist", a, b, inA.Allow, inB.Allow)
		switch knownA, knownB := len(inA.Shown)+len(inA.Hidden) > 0, len(inB.Shown)+len(inB.Hidden) > 0; {
		case knownA && knownB:
			d.models(provider, a, inA, inB)
			d.models(provider, b, inB, inA)
		case knownA != knownB:
			d.Unknown = append(d.Unknown, provider)
		}
	}
	return d
}

// providers returns the names of all providers, starting with the first target's.
func providers(all ...modelfilter.Exported) (names []string) {
	for _, e := range all {
		for _, p := range e.Providers {
			if !slices.Contains(names, p.Provider) {
				names = append(names, p.Provider)
			}
		}
	}
	return names
}

// providerOf returns the provider of e with this name. If there is none, it returns a provider without rules, and false.
func providerOf(e modelfilter.Exported, name string) (modelfilter.ExportedProvider, bool) {
	for _, p := range e.Providers {
		if p.Provider == name {
			return p, true
		}
	}
	return modelfilter.ExportedProvider{Provider: name}, false
}

func (d *Difference) rules(provider, list, a, b string, inA, inB []string) {
	for _, side := range []struct {
		name       string
		has, hasnt []string
	}{{a, inA, inB}, {b, inB, inA}} {
		for _, pattern := range without(side.has, side.hasnt) {
			d.Rules = append(d.Rules, RuleDifference{provider, list, pattern, side.name})
		}
	}
}

// models adds the models that one target shows and the other does not.
func (d *Difference) models(provider, name string, one, other modelfilter.ExportedProvider) {
	hidden := set(other.Hidden)
	for _, id := range without(one.Shown, other.Shown) {
		state := Absent
		if hidden[id] {
			state = Hidden
		}
		d.Models = append(d.Models, ModelDifference{provider, id, name, state})
	}
}

// without returns the texts that others does not contain, each once.
func without(texts, others []string) (left []string) {
	seen := set(others)
	for _, text := range texts {
		if !seen[text] {
			seen[text] = true
			left = append(left, text)
		}
	}
	return left
}

func set(texts []string) map[string]bool {
	all := make(map[string]bool, len(texts))
	for _, text := range texts {
		all[text] = true
	}
	return all
}
