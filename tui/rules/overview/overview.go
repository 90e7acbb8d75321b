// Package overview is what the pane of the rules shows of all providers at once: the
// models that are shown and hidden, the unsaved changes, and what saving them would do.
//
// # Types
//
// Numbers are those of one provider, as the window counts them. An Overview has the
// Numbers of all providers. Columns are the line of a table for them.
//
// # Who may call what from where
//
// Read, ReadAll and Count may wait for the disk, Ask and Refresh for the network: call
// them in a command. Rows, Of and Stale answer from memory.
//
// # Caveats
//
// Until the list of models of a provider was read, nothing is known of it but its rules.
package overview

import (
	"context"
	"sync"

	"winnow/adapters/modelfilter"
)

// Numbers are what is known of a provider.
type Numbers struct {
	modelfilter.ProviderView
	Counts  modelfilter.Counts
	Changes int                     // unsaved rule changes
	Effect  modelfilter.ModelEffect // of saving them
	Source  string                  // where the list of models comes from, see models.List
	Read    bool                    // false: the list of models was not read yet
	Asking  bool                    // the provider is being asked for its models
}

// Overview has the numbers of all providers. Make it with New; it is safe from any
// goroutine.
type Overview struct {
	window *modelfilter.Window

	mu       sync.Mutex
	numbers  map[string]Numbers // of the providers that were read
	counted  map[string]int64   // the revision of the window that they are of
	asking   map[string]bool
	asked    chan struct{} // see signal
	reading  bool
	revision int64 // grows with every change of what Rows returns
}

// New is the overview of a window, of which nothing was read yet.
func New(w *modelfilter.Window) *Overview {
	return &Overview{window: w, numbers: map[string]Numbers{}, counted: map[string]int64{}, asking: map[string]bool{}, asked: make(chan struct{}, 1)}
}

// Rows are the numbers of all providers in the order of the window. revision grows
// whenever those of a provider change.
func (o *Overview) Rows() (rows []Numbers, revision int64) {
	providers := o.window.Providers()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, v := range providers {
		n := o.numbers[v.Name]
		n.ProviderView, n.Asking = v, o.asking[v.Name]
		rows = append(rows, n)
	}
	return rows, o.revision
}

// Of are the numbers of a provider.
func (o *Overview) Of(name string) Numbers {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.numbers[name]
}

// Sum adds the numbers of providers up. unknown is how many have no list of models.
func Sum(rows []Numbers) (sum Numbers, unknown int) {
	for _, n := range rows {
		sum.Read = sum.Read || n.Read
		sum.Counts.Total += n.Counts.Total
		sum.Counts.Available += n.Counts.Available
		sum.Counts.Hidden += n.Counts.Hidden
		sum.Counts.Whitelisted += n.Counts.Whitelisted
		sum.Changes += n.Changes
		sum.Effect.Hidden = append(sum.Effect.Hidden, n.Effect.Hidden...)
		sum.Effect.Shown = append(sum.Effect.Shown, n.Effect.Shown...)
		sum.Effect.Known = sum.Effect.Known || n.Effect.Known
		if n.Counts.Total == 0 {
			unknown++
		}
	}
	return sum, unknown
}

// Stale reports that a Read would change something, or would wait for a provider that
// was asked. It reports that once, until the Read has ended.
func (o *Overview) Stale() bool {
	waiting := o.outdated()
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.reading && len(waiting) > 0:
		o.signal() // the Read may be waiting for a provider
		return false
	case o.reading, len(waiting) == 0 && len(o.asking) == 0:
		return false
	}
	o.reading = true
	return true
}

// signal ends the Read that waits for a provider.
func (o *Overview) signal() {
	select {
	case o.asked <- struct{}{}:
	default: // a signal is waiting already
	}
}

// outdated are the providers whose numbers are not those of the window now.
func (o *Overview) outdated() []string {
	revision, providers := o.window.Revision(), o.window.Providers()
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []string
	for _, v := range providers {
		if o.counted[v.Name] != revision {
			out = append(out, v.Name)
		}
	}
	return out
}

// batch is how many lists of models one Read reads: those before it are on the screen
// meanwhile.
const batch = 8

// Read counts some providers that are out of date; when there is none it waits for
// one that was asked.
func (o *Overview) Read(ctx context.Context) error {
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.reading = false
	}()
	names := o.outdated()
	if len(names) == 0 {
		select {
		case <-o.asked:
		case <-ctx.Done():
		}
		return nil
	}
	fresh := 0
	for _, name := range names {
		if fresh == batch || ctx.Err() != nil {
			break
		}
		if !o.Of(name).Read {
			fresh++
		}
		o.Count(name)
	}
	return nil
}

// ReadAll counts all providers.
func (o *Overview) ReadAll(ctx context.Context) {
	for _, v := range o.window.Providers() {
		if ctx.Err() != nil {
			return
		}
		o.Count(v.Name)
	}
}

// Count counts a provider as the window counts it.
func (o *Overview) Count(name string) {
	revision := o.window.Revision() // first: a change during the counting is seen the next time
	scope, err := o.window.On(name)
	if err != nil {
		return // it is no longer a provider
	}
	n := Numbers{Counts: scope.Counts(), Read: true}
	if list, err := o.window.ModelList(name); err == nil {
		n.Source = list.Source
	}
	for _, c := range o.window.Diff() {
		if c.Provider == name {
			n.Changes++
		}
	}
	if n.Changes > 0 {
		n.Effect = scope.SaveEffect()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.numbers[name], o.counted[name] = n, revision
	o.revision++
}

// maxAsked is how many providers are asked at the same time.
const maxAsked = 3

// Refresh asks providers for their models, a few at a time, and returns why some did
// not answer, by provider.
func (o *Overview) Refresh(ctx context.Context, names []string) map[string]error {
	failed := map[string]error{}
	var group sync.WaitGroup
	free := make(chan struct{}, maxAsked)
	for _, name := range names {
		free <- struct{}{}
		group.Go(func() {
			if _, err := o.Ask(ctx, name); err != nil {
				o.mu.Lock()
				failed[name] = err
				o.mu.Unlock()
			}
			<-free
		})
	}
	group.Wait()
	return failed
}

// Ask asks a provider for its models.
func (o *Overview) Ask(ctx context.Context, name string) (modelfilter.Refreshed, error) {
	o.setAsking(name, true)
	defer o.setAsking(name, false)
	r, err := o.window.Refresh(ctx, name)
	o.Count(name)
	return r, err
}

func (o *Overview) setAsking(name string, on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if delete(o.asking, name); on {
		o.asking[name] = true
	}
	o.revision++
	o.signal()
}
