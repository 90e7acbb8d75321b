package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"winnow/adapters/endpoints"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
	"winnow/tui"
	"winnow/tui/rules"
)

const (
	// finishTime is how long opening the program may go on after the screen has
	// ended: ten times what it needs on a slow disk.
	finishTime = 200 * time.Millisecond
	// abandonTime is how long it may then take to stop. With finishTime it stays
	// below closeTime.
	abandonTime = 100 * time.Millisecond
)

// start opens the program beside its screen, which is drawn already. It happens
// at most once, and not after the end.
type start struct {
	ctx    context.Context
	cancel context.CancelFunc
	begun  atomic.Bool
	done   chan struct{} // closed when nothing is opened any more
	result *program      // what was opened, once done is closed
}

func newStart(ctx context.Context) *start {
	s := &start{done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// run opens the program. After the end it is context.Canceled.
func (s *start) run(open func(context.Context) (*program, error)) (*program, error) {
	if !s.begun.CompareAndSwap(false, true) {
		return nil, context.Canceled
	}
	defer close(s.done) // also after a panic
	p, err := open(s.ctx)
	s.result = p
	return p, err
}

// end makes sure that nothing is opened any more, and returns what was; nil when
// nothing was. What does not stop in time is left behind: ended is false then.
func (s *start) end() (p *program, ended bool) {
	defer s.cancel()
	if s.begun.CompareAndSwap(false, true) {
		close(s.done)
	}
	for _, patience := range []time.Duration{finishTime, abandonTime} {
		select {
		case <-s.done:
			return s.result, true
		case <-time.After(patience):
			s.cancel()
		}
	}
	return nil, false
}

const (
	// warmAfter is when the work begins that nobody waits for yet: the first
	// frame and the draft of before are drawn by then.
	warmAfter = 400 * time.Millisecond
	// startGC is how much the heap may grow between two collections during the
	// start, in percent: what is allocated then stays, or is freed at once after.
	startGC = 400
)

// startFast makes garbage collection rare until calm is called.
func startFast() (calm func()) {
	usual := debug.SetGCPercent(startGC)
	return sync.OnceFunc(func() { debug.SetGCPercent(usual) })
}

// warm does in the background what the user will want next, after the first
// frame, and returns the memory that the start has used to the system.
func (p *program) warm(ctx context.Context, calm func()) {
	select {
	case <-time.After(warmAfter):
	case <-ctx.Done():
		return
	}
	calm()
	if filter, ok := p.pane.(*rules.Pane); ok {
		filter.Warm(ctx)
	}
	releaseMemory()
}

// typeahead is what was typed in a run that ended before its history was open: a
// line of the file of that name.
type typeahead struct {
	Folder string
	history.Draft
}

// storeTypeahead writes what was typed where the next start finds it.
func (a *app) storeTypeahead(d history.Draft) error {
	if d.Text == "" && len(d.Stash) == 0 {
		return nil
	}
	line, err := json.Marshal(typeahead{a.folder(), d})
	h, noHome := a.folders()
	if err = errors.Join(err, noHome, makePrivate(h.state)); err != nil {
		return err
	}
	file, err := os.OpenFile(h.typeahead(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Sync(), file.Close())
}

// restoreTypeahead puts into the history what earlier runs could not, oldest
// first. The file is removed once all of it is there.
func (a *app) restoreTypeahead(ctx context.Context, store history.Store) error {
	h, err := a.folders()
	if err != nil {
		return err
	}
	lines, err := os.ReadFile(h.typeahead())
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	for line := range bytes.Lines(lines) {
		var d typeahead
		if json.Unmarshal(line, &d) == nil { // a line cut by a crash is left out
			if err := workspace.New(workspace.Options{History: store, Folder: d.Folder}).AddDraft(ctx, d.Draft); err != nil {
				return err
			}
		}
	}
	return os.Remove(h.typeahead())
}

// openEndpoints finds the endpoints of this run. It connects to nothing.
func (a *app) openEndpoints(how opening) (*endpoints.Set, error) {
	o, err := a.endpointOptions()
	if err != nil {
		return nil, err
	}
	o.Delay, o.ReadPause = how.delay, how.readPause
	o.Notice = func(text string) { a.say("%s", text) }
	return endpoints.Find(o)
}

func (a *app) endpointOptions() (o endpoints.Options, err error) {
	s, err := a.config()
	if err != nil {
		return o, err
	}
	h, err := a.folders()
	o = endpoints.Options{
		Settings: s, Environ: a.environ, EnvFile: a.envFile(), CacheDir: h.endpoints(), Redactor: a.redactor, Log: a.logger(),
		Provider: a.given(a.flags.provider, "WINNOW_PROVIDER"), BaseURL: a.given(a.flags.baseURL, "WINNOW_BASE_URL"),
	}
	if s.LocalServers {
		o.Local = endpoints.LocalServers()
	}
	return o, err
}

// lastModelKey is where the history stores the model that was picked last in a folder.
func lastModelKey(folder string) string { return "model:" + folder }

// pickModel is the model to begin with: the one that is named, else the first that
// the endpoints have. Unless wait is set they are asked later, by follow; until
// then the offline model stands in, where the user set up no endpoint.
func (a *app) pickModel(ctx context.Context, p *program, before string, wait bool) (id string, err error) {
	if id, err = a.namedModel(ctx, p, before); err != nil {
		return "", err
	}
	first := p.endpoints.All[0]
	switch {
	case id != "":
		return id, p.endpoints.Describe(id)
	case wait:
		var c endpoints.Choice
		c, err = p.endpoints.First(ctx)
		id, p.notice = c.ID, c.Note
	case first.Auto || first.Name == endpoints.OfflineName:
		id, p.unnamed = endpoints.OfflineModel, true
	default:
		p.unnamed = true
	}
	p.auto = id
	return id, err
}

// namedModel is the model that the user chose, now or earlier; "" when the
// endpoints have to be asked. before is the model of the resumed session. It
// connects to nothing.
func (a *app) namedModel(ctx context.Context, p *program, before string) (string, error) {
	s, err := a.config()
	if err != nil {
		return "", err
	}
	named := a.flags.provider != "" || a.flags.baseURL != ""
	restricted := named || a.env("WINNOW_PROVIDER") != "" || a.env("WINNOW_BASE_URL") != ""
	switch from := s.Origins["model"].From; {
	case s.Model != "" && from == "flag": // an endpoint of the environment does not change it
		return p.endpoints.ModelID(s.Model, named)
	case s.Model != "" && from == "environment":
		return p.endpoints.ModelID(s.Model, restricted)
	case before != "" && before != endpoints.OfflineModel && p.endpoints.Serves(before): // the offline model may only have stood in
		p.auto = before // chosen in the session, not in the folder
		return before, nil
	}
	last, err := p.store.Get(ctx, lastModelKey(a.folder()))
	switch {
	case err != nil:
		return "", err
	case last != "" && p.endpoints.Serves(last):
		return last, nil
	case last != "" && !restricted:
		a.say("%s, used here last, has no endpoint now", last)
	}
	if s.Model != "" && (!restricted || p.endpoints.Serves(s.Model)) {
		return p.endpoints.ModelID(s.Model, restricted)
	}
	return "", nil
}

// follow asks the endpoints for a model when the user has named none, else the
// selected endpoint for its models: what is known of them may be out of date.
// notify gets what came of it.
func (p *program) follow(ctx context.Context, notify func(tui.Noticed)) {
	p.follows.Go(func() {
		if !p.unnamed {
			name, _, _ := strings.Cut(p.session.Model(), "/")
			// A failure is shown when a message is sent, or the models are asked for.
			if e := p.endpoints.Named(name); e != nil && len(e.Known) == 0 && len(p.endpoints.Registry.Refresh(ctx, name)) == 0 {
				p.session.ModelsChanged()
			}
			return
		}
		c, err := p.endpoints.First(ctx)
		_, sent := p.session.LastSend()
		if ctx.Err() != nil || p.session.Model() != p.auto || p.session.Busy() || sent {
			return // the user has chosen or sent something meanwhile
		}
		if err == nil {
			err = p.endpoints.Describe(c.ID)
		}
		if err == nil {
			err = p.session.SetModel(c.ID)
		}
		if err != nil {
			notify(failure(err))
			return
		}
		p.auto = c.ID
		notify(tui.Noticed{Text: c.Note})
	})
}

// failure shows err in the footer; a nil err only refreshes the screen.
func failure(err error) tui.Noticed {
	if err == nil {
		return tui.Noticed{}
	}
	return tui.Noticed{Text: err.Error(), Bad: true}
}
