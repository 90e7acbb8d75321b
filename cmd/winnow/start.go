package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"winnow/adapters/config"
	"winnow/adapters/endpoints"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/assistant/workspace"
	"winnow/checkpoint/privatefile"
	"winnow/tui"
)

const (
	// finishTime is how long opening the program may go on after the screen has
	// ended: ten times what it needs on a slow disk.
	finishTime = 200 * time.Millisecond
	// abandonTime is how long it may then take to stop. With finishTime it stays
	// below terminal.CloseTime.
	abandonTime = 100 * time.Millisecond
)

// backgroundOpen opens the program while its screen is drawn. It does so at most
// once, and never after end.
type backgroundOpen struct {
	ctx     context.Context
	cancel  context.CancelFunc
	started atomic.Bool
	done    chan struct{} // closed when nothing is opened any more
	result  *program      // what was opened, once done is closed
}

func newBackgroundOpen(ctx context.Context) *backgroundOpen {
	b := &backgroundOpen{done: make(chan struct{})}
	b.ctx, b.cancel = context.WithCancel(ctx)
	return b
}

// run opens the program. After end it returns context.Canceled.
func (b *backgroundOpen) run(open func(context.Context) (*program, error)) (_ *program, err error) {
	if !b.started.CompareAndSwap(false, true) {
		return nil, context.Canceled
	}
	defer close(b.done) // also after a panic
	b.result, err = open(b.ctx)
	return b.result, err
}

// end makes sure that nothing is opened any more, and returns what was; nil when
// nothing was. What does not stop in time is left behind: ended is false then.
func (b *backgroundOpen) end() (p *program, ended bool) {
	defer b.cancel()
	if b.started.CompareAndSwap(false, true) {
		close(b.done)
	}
	for _, limit := range []time.Duration{finishTime, abandonTime} {
		select {
		case <-b.done:
			return b.result, true
		case <-time.After(limit):
			b.cancel()
		}
	}
	return nil, false
}

const (
	// warmAfter is when work begins that nobody waits for yet: the first frame and
	// the stored draft are drawn by then.
	warmAfter = 400 * time.Millisecond
	// startGC is how much the heap may grow between two collections during the
	// start, in percent: what is allocated then stays, or is freed right after it.
	startGC = 400
	// screenGC is the same for a program that has started. A long answer makes little
	// garbage, so collections are rare all the same.
	screenGC = 60
	// commandGC leaves it to GOGC: every other command.
	commandGC = math.MaxInt
)

// delayGC makes garbage collection rare until endStart is called for the first time.
// From then on the heap may grow by percent, or by what GOGC says where that is less.
func delayGC() (endStart func(percent int)) {
	usual := debug.SetGCPercent(startGC)
	var once sync.Once
	return func(percent int) { once.Do(func() { debug.SetGCPercent(min(usual, percent)) }) }
}

// warm prepares, after the first frame, what the user will want next, and returns
// to the system the memory that only the start used.
func (p *program) warm(ctx context.Context) {
	select {
	case <-time.After(warmAfter):
	case <-ctx.Done():
		return
	}
	if filter := p.window.filter; filter != nil {
		filter.ReadModels(ctx)
	}
	releaseMemory()
}

// typeahead is what was typed in a run that ended before its history was open: a
// line of the file home.typeahead.
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
	h, homeErr := a.folders()
	if err = errors.Join(err, homeErr, config.MakePrivate(h.StateDir)); err != nil {
		return err
	}
	file, err := os.OpenFile(h.Typeahead(), os.O_CREATE|os.O_APPEND|os.O_WRONLY|privatefile.NoFollow, privatefile.FileMode)
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
	file, err := os.OpenFile(h.Typeahead(), os.O_RDONLY|privatefile.NoFollow, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	lines, err := io.ReadAll(file)
	if err = errors.Join(err, file.Close()); err != nil {
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
	return os.Remove(h.Typeahead())
}

// openEndpoints finds the endpoints of this run. It connects to nothing.
func (a *app) openEndpoints(open openOptions) (*endpoints.Set, error) {
	o, err := a.endpointOptions()
	if err != nil {
		return nil, err
	}
	o.Delay, o.ReadPause = open.delay, open.readPause
	o.Notice = func(text string) { a.printErr("%s", text) }
	return endpoints.Find(o)
}

func (a *app) endpointOptions() (o endpoints.Options, err error) {
	s, err := a.config()
	if err != nil {
		return o, err
	}
	h, err := a.folders()
	o = endpoints.Options{
		Settings: s, Environ: a.environ, EnvFile: a.envFile(), CacheDir: h.Endpoints(), Redactor: a.redactor, Log: a.logger(),
		Provider: a.flagOrEnv(a.flags.provider, "WINNOW_PROVIDER"), BaseURL: a.flagOrEnv(a.flags.baseURL, "WINNOW_BASE_URL"),
	}
	if s.LocalServers {
		o.Local = endpoints.LocalServers()
	}
	return o, err
}

// lastModelKey is where the history stores the model that was picked last in a folder.
func lastModelKey(folder string) string { return "model:" + folder }

// pickModel is the model to begin with: the one that is named, else the first that
// the endpoints have. Unless wait is set they are asked later, by askEndpoints; until
// then the offline model stands in, where the user set up no endpoint.
func (a *app) pickModel(ctx context.Context, p *program, sessionModel string, wait bool) (id string, err error) {
	if id, err = a.namedModel(ctx, p, sessionModel); err != nil {
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
		id, p.modelPending = endpoints.OfflineModel, true
	default:
		p.modelPending = true
	}
	p.autoModel = id
	return id, err
}

// namedModel is the model that the user chose, now or earlier; "" when the
// endpoints have to be asked. sessionModel is that of the resumed session. It connects
// to nothing, but for a name without its endpoint.
func (a *app) namedModel(ctx context.Context, p *program, sessionModel string) (string, error) {
	s, err := a.config()
	if err != nil {
		return "", err
	}
	byFlag := a.flags.provider != "" || a.flags.baseURL != ""
	restricted := byFlag || a.env("WINNOW_PROVIDER") != "" || a.env("WINNOW_BASE_URL") != ""
	switch from := s.Origins["model"].From; {
	case s.Model != "" && from == "flag": // an endpoint of the environment does not change it
		return p.endpoints.ModelID(ctx, s.Model, byFlag)
	case s.Model != "" && from == "environment":
		return p.endpoints.ModelID(ctx, s.Model, restricted)
	case sessionModel != "" && sessionModel != endpoints.OfflineModel && p.endpoints.Serves(sessionModel): // the offline model may only have stood in
		p.autoModel = sessionModel // chosen in the session, not in the folder
		return sessionModel, nil
	}
	last, err := p.store.Get(ctx, lastModelKey(a.folder()))
	switch {
	case err != nil:
		return "", err
	case last != "" && p.endpoints.Serves(last):
		return last, a.reportOverridden(ctx, p.store, last)
	case last != "" && !restricted:
		a.printErr("the model last used here, %s, has no endpoint now", last)
	}
	if s.Model != "" && (!restricted || p.endpoints.Serves(s.Model)) {
		return p.endpoints.ModelID(ctx, s.Model, restricted)
	}
	return "", nil
}

// reportOverridden prints once that the model last used in the folder comes before that of the
// settings, and how the setting is used.
func (a *app) reportOverridden(ctx context.Context, store history.Settings, last string) error {
	setting, key := a.settings.Model, "model-reported:"+a.folder()
	if setting == "" || last == setting || strings.HasSuffix(last, "/"+setting) {
		return nil
	}
	if reported, err := store.Get(ctx, key); err != nil || reported == last+" "+setting {
		return err
	}
	a.printErr("model %s, last used in this folder; the settings say %s: -m %s or /model %s uses that", last, setting, setting, setting)
	return store.Set(ctx, key, last+" "+setting)
}

// reportUnset prints that the variable of the key of the selected endpoint is not set.
func (a *app) reportUnset(p *program) {
	name, _, _ := strings.Cut(p.session.Model(), "/")
	if e := p.endpoints.Named(name); e != nil && e.Unset != nil {
		a.printErr("%v: set it and start again, or connect another with /connect", e.Unset)
	}
}

// askEndpoints asks the endpoints for a model when the user has named none, else
// the selected endpoint for its models: what is known of them may be out of date.
// The answer goes to the pane too. notify gets what the user should know.
func (p *program) askEndpoints(ctx context.Context, notify func(tui.Noticed)) {
	p.endpoints.Feed(func(a models.Answer) {
		if w := p.window.filter; w != nil && w.AcceptModels(ctx, a) {
			notify(tui.Noticed{})
		}
	})
	p.asking.Go(func() {
		if !p.modelPending {
			err := p.endpoints.Ask(ctx, p.session.Model())
			p.session.ModelsChanged()
			if errors.Is(err, llm.ErrModelGone) { // other failures are shown when a message is sent, or the models are asked for
				notify(tui.Noticed{Err: err})
			}
			return
		}
		c, err := p.endpoints.First(ctx)
		_, sent := p.session.LastSend()
		if ctx.Err() != nil || p.session.Model() != p.autoModel || p.session.Busy() || sent {
			return // the user has chosen or sent something meanwhile
		}
		if err == nil {
			err = p.endpoints.Describe(c.ID)
		}
		if err == nil {
			err = p.session.SetModel(c.ID)
		}
		if err != nil {
			notify(tui.Noticed{Err: err})
			return
		}
		p.autoModel = c.ID
		notify(tui.Noticed{Text: c.Note})
	})
}
