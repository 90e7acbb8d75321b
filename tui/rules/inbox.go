package rules

import (
	"sync"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/models"
)

// inbox is what commands bring back to the pane. It alone is shared between
// goroutines.
type inbox struct {
	mu         sync.Mutex
	version    int64 // grows with every change of what is drawn
	creates    bool  // there is no file yet
	foreign    *modelfilter.ThreeWay
	suggestion *suggestion
	lint       *lint
	counts     map[string]providerCounts
	drift      map[string]models.Drift // by provider
}

// suggestion is what was found for the selected models: patterns, at least one,
// that match them and no other.
type suggestion struct {
	provider string
	list     modelfilter.List
	patterns []string
}

// providerCounts are the numbers of a provider in the list to choose from.
type providerCounts struct {
	total, available int
	source           string
}

func (b *inbox) takeSuggestion() *suggestion {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.suggestion
	b.suggestion = nil
	return s
}

func (b *inbox) suggest(s suggestion) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.suggestion = &s
}

// drawn is the version of what the inbox holds.
func (b *inbox) drawn() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.version
}

// lintOf is what was found of a revision; nil when that was not looked at.
func (b *inbox) lintOf(revision int64) *lint {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lint == nil || b.lint.revision != revision {
		return nil
	}
	return b.lint
}

func (b *inbox) setLint(l lint) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.version++
	b.lint = &l
}

// setFile notes whether there is a file, and who else changed it.
func (b *inbox) setFile(creates bool, foreign *modelfilter.ThreeWay) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.version++
	b.creates, b.foreign = creates, foreign
}

func (b *inbox) makesFile() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.creates
}

// theirs is what somebody else did to the file; nil when nobody did.
func (b *inbox) theirs() *modelfilter.ThreeWay {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.foreign
}

// count looks up the numbers of a provider. It may read the disk.
func (b *inbox) count(w *modelfilter.Window, name string) {
	scope, err := w.On(name)
	if err != nil {
		return
	}
	list, err := w.ModelList(name)
	if err != nil {
		return
	}
	c := scope.Counts()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts[name] = providerCounts{c.Total, c.Available, list.Source}
}

func (b *inbox) setDrift(name string, d models.Drift) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.version++
	b.drift[name] = d
}

func (b *inbox) driftOf(name string) models.Drift {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.drift[name]
}

// saved forgets what a save makes out of date.
func (b *inbox) saved() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.version++
	b.creates, b.foreign = false, nil
	clear(b.drift)
}

func (b *inbox) countOf(name string) (providerCounts, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.counts[name]
	return c, ok
}
