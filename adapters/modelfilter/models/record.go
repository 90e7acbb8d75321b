package models

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// record is the stored list of one provider.
type record struct {
	Provider string    `json:"provider"`
	Source   string    `json:"source"` // SourceLive or SourceProxy
	Base     string    `json:"base"`   // the address the models came from, bare
	At       time.Time `json:"at"`
	Partial  bool      `json:"partial,omitempty"`
	Models   []model   `json:"models"` // sorted by name

	// The baseline: Seen are the names the user has seen and that are in
	// Models, sorted; Gone are those that left it, the longest gone first.
	Seen []string `json:"seen"`
	Gone []string `json:"gone,omitempty"`

	// Doubt is the hash of a list that was refused as implausible; if the next
	// one is the same, it is accepted.
	Doubt string `json:"doubt,omitempty"`
}

// maxGone is how many disappeared names are remembered. The oldest are
// forgotten first; they would count as new again.
const maxGone = maxModels

// fetched is a list that has just come.
type fetched struct {
	models  []model
	source  string
	base    string
	partial bool
	dropped int
	at      time.Time
	note    error // why this source and not a better one; nil when it is the best
}

// doubtFrom is the length from which a list that loses more than half is
// doubted; a shorter one may well change so much.
const doubtFrom = 8

// apply replaces the stored models by f's, or adds them when f is partial. It
// reports false, and changes only Doubt, when f is implausible.
func (r *record) apply(f fetched) bool {
	same := r.Base == f.base
	if sum := sumOf(f.models); same && !f.partial && r.Doubt != sum && r.doubts(f.models) {
		r.Doubt = sum
		return false
	}
	first := r.Models == nil
	list := f.models
	if f.partial {
		list = tidy(slices.Concat(f.models, r.Models))
		list = list[:min(len(list), maxModels)]
	}
	r.Models, r.Source, r.Base, r.At, r.Partial, r.Doubt = list, f.source, f.base, f.at, f.partial, ""
	r.rebase(first || !same)
	return true
}

// doubts reports whether list lacks more than half of the stored one.
func (r *record) doubts(list []model) bool {
	if len(r.Models) < doubtFrom {
		return false
	}
	left := 0
	for _, m := range r.Models {
		if _, ok := slices.BinarySearchFunc(list, m, byName); ok {
			left++
		}
	}
	return left*2 < len(r.Models)
}

// rebase brings the baseline in line with Models: what left is remembered, and
// what returned is seen. Another address lists other models, which is no news:
// with all set, every name counts as seen.
func (r *record) rebase(all bool) {
	known := make(map[string]bool, len(r.Seen)+len(r.Gone))
	for _, name := range slices.Concat(r.Seen, r.Gone) {
		known[name] = true
	}
	listed := make(map[string]bool, len(r.Models))
	var seen []string
	for _, m := range r.Models {
		listed[m.Name] = true
		if all || known[m.Name] {
			seen = append(seen, m.Name)
		}
	}
	gone := make([]string, 0, len(r.Gone))
	for _, name := range slices.Concat(r.Gone, r.Seen) {
		if !listed[name] && known[name] {
			gone = append(gone, name)
			known[name] = false // once
		}
	}
	r.Seen, r.Gone = seen, gone[max(0, len(gone)-maxGone):]
}

// fresh lists the names that are not in the baseline.
func (r *record) fresh() []string {
	var out []string
	seen := r.Seen
	for _, m := range r.Models {
		for len(seen) > 0 && seen[0] < m.Name {
			seen = seen[1:]
		}
		if len(seen) == 0 || seen[0] != m.Name {
			out = append(out, m.Name)
		}
	}
	return out
}

// markSeen adds the models in names to the baseline.
func (r *record) markSeen(names map[string]bool) {
	for _, name := range r.Seen {
		names[name] = true
	}
	var seen []string
	for _, m := range r.Models {
		if names[m.Name] {
			seen = append(seen, m.Name)
		}
	}
	r.Seen = seen
}

// clone returns a copy that can be changed apart from r. The slices are
// replaced, never written to, and so may be shared.
func (r *record) clone() *record {
	c := *r
	return &c
}

// sumOf identifies the names of a list.
func sumOf(list []model) string {
	sum := sha256.Sum256([]byte(strings.Join(names(list), "\n")))
	return hex.EncodeToString(sum[:])
}
