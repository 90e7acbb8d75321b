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
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"winnow/adapters/config"
	"winnow/adapters/endpoints"
	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/checkpoint/privatefile"
	"winnow/tui"
)

const (
	// finishTime is how long opening the program may continue after the screen has ended: ten times what a slow disk
	// needs.
	finishTime = 200 * time.Millisecond
	// abandonTime is how long opening may take to stop after finishTime. finishTime and abandonTime together must
	// stay below terminal.CloseTime.
	abandonTime = 100 * time.Millisecond
)

// backgroundOpen opens the program while the screen is drawn, at most once and never after end.
type backgroundOpen struct {
	ctx     context.Context
	cancel  context.CancelFunc
	started atomic.Bool
	done    chan struct{} // closed when opening has ended or will never start
	result  *program      // the opened program; valid once done is closed
}

func newBackgroundOpen(ctx context.Context) *backgroundOpen {
	b := &backgroundOpen{done: make(chan struct{})}
	b.ctx, b.cancel = context.WithCancel(ctx)
	return b
}

// run opens the program. After end, or if it has been called before, it returns context.Canceled.
func (b *backgroundOpen) run(open func(context.Context) (*program, error)) (_ *program, err error) {
	if !b.started.CompareAndSwap(false, true) {
		return nil, context.Canceled
	}
	defer close(b.done) // even after a panic
	b.result, err = open(b.ctx)
	return b.result, err
}

// end stops opening and returns the opened program, or nil if there is none. If opening does not stop in time, end
// returns with ended false and opening continues in the background.
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
	// warmAfter is how long warm waits before it begins: by then the first frame and the stored draft have been drawn.
	warmAfter = 400 * time.Millisecond
	// startGC is the GC percentage during the start, when most allocations live either until the program ends or only
	// until the start is complete.
	startGC = 400
	// screenGC is the GC percentage of the running program. A long answer creates little garbage, so collections
	// are still rare.
	screenGC = 60
	// commandGC leaves the percentage to GOGC, for all other commands.
	commandGC = math.MaxInt
)

// delayGC makes garbage collection rare during the start. The first call of endStart sets the GC percentage to percent
// or, if that is lower, to the value of GOGC; later calls do nothing.
func delayGC() (endStart func(percent int)) {
	usual := debug.SetGCPercent(startGC)
	var once sync.Once
	return func(percent int) { once.Do(func() { debug.SetGCPercent(min(usual, percent)) }) }
}

// warm waits until the first frame has been drawn, and then reads the models ahead of their first use. It also returns
// to the system the memory that only the start needed.
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

// typeahead is text that a run could not store in the history, for example because the run ended before the history
// was open. It is a line of the file config.Home.Typeahead.
type typeahead struct {
	Folder string
	history.Draft
}

// storeTypeahead stores typed text where the next start finds it.
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

// restoreTypeahead moves the text that earlier runs could not store into the history, oldest first, and then removes
// the file.
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
		if json.Unmarshal(line, &d) == nil { // skip a line that a crash cut off
			if err := workspace.New(workspace.Options{History: store, Folder: d.Folder}).AddDraft(ctx, d.Draft); err != nil {
				return err
			}
		}
	}
	return os.Remove(h.Typeahead())
}

// openEndpoints finds the endpoints of this run without connecting to them.
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

// lastModelKey returns the key of the history setting that stores the model last selected in a folder.
func lastModelKey(folder string) string { return "model:" + folder }

// storeModel returns a function that stores the model last selected in this folder, for the next start.
func (a *app) storeModel(store history.Settings) func(ctx context.Context, id string) error {
	return func(ctx context.Context, id string) error { return store.Set(ctx, lastModelKey(a.folder()), id) }
}

// pickModel returns the model to start with: the model that the user named, or a suitable model of the endpoints. If
// wait is false, askEndpoints asks the endpoints later; until then pickModel returns the offline model or, if the user
// configured an endpoint, "".
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

// namedModel returns the model that the user chose, now or earlier, or "" if the endpoints have to be asked.
// sessionModel is the model of the resumed session. Only a model named without its endpoint requires a connection.
func (a *app) namedModel(ctx context.Context, p *program, sessionModel string) (string, error) {
	s, err := a.config()
	if err != nil {
		return "", err
	}
	byFlag := a.flags.provider != "" || a.flags.baseURL != ""
	restricted := byFlag || a.env("WINNOW_PROVIDER") != "" || a.env("WINNOW_BASE_URL") != ""
	switch from := s.Origins["model"].From; {
	case s.Model != "" && from == "flag": // takes precedence over an endpoint from the environment
		id, err := p.endpoints.ModelID(ctx, s.Model, byFlag)
		if err == nil {
			a.reportEndpoint(p.endpoints, id, byFlag)
		}
		return id, err
	case s.Model != "" && from == "environment":
		return p.endpoints.ModelID(ctx, s.Model, restricted)
	case sessionModel != "" && sessionModel != endpoints.OfflineModel && p.endpoints.Serves(sessionModel): // the offline model may only have been a substitute
		p.autoModel = sessionModel // so that end does not store it as the model of the folder: it was chosen for the session only
		return sessionModel, nil
	}
	last, err := p.store.Get(ctx, lastModelKey(a.folder()))
	switch {
	case err != nil:
		return "", err
	case last != "" && p.endpoints.Serves(last):
		return last, a.reportOverridden(ctx, p.store, last)
	case last != "" && !restricted:
		a.printErr("the model last used here, %s, no longer has an endpoint", last)
	}
	if s.Model != "" && (!restricted || p.endpoints.Serves(s.Model)) {
		return p.endpoints.ModelID(ctx, s.Model, restricted)
	}
	return "", nil
}

// reportEndpoint prints a notice if -m names a model without its endpoint, and the endpoint used does not list the
// model or is one of several that do. chosen means that another flag names the endpoint, so that the others do not
// matter.
func (a *app) reportEndpoint(set *endpoints.Set, id string, chosen bool) {
	named := a.settings.Model
	name, _, _ := strings.Cut(id, "/")
	switch others := set.Namesakes(id); {
	case strings.HasPrefix(named, name+"/"):
	case set.Unlisted(id):
		a.printErr("%s does not list %s; using it anyway (winnow models --chat lists the models)", name, named)
	case !chosen && len(others) > 0:
		a.printErr("several endpoints list %s: %s answers; to use another: -m %s", named, name, strings.Join(others, ", -m "))
	}
}

// reportOverridden prints, once, that the model last used in the folder takes precedence over the one in the
// settings, and how to use the model in the settings.
func (a *app) reportOverridden(ctx context.Context, store history.Settings, last string) error {
	setting, key := a.settings.Model, "model-reported:"+a.folder()
	if setting == "" || last == setting || strings.HasSuffix(last, "/"+setting) {
		return nil
	}
	if reported, err := store.Get(ctx, key); err != nil || reported == last+" "+setting {
		return err
	}
	a.printErr("using %s, the model last used in this folder, instead of %s from the settings; to switch: -m %s or /model %s", last, setting, setting, setting)
	return store.Set(ctx, key, last+" "+setting)
}

// reportUnset prints a notice if the environment variable that should contain the selected endpoint's key is not set.
func (a *app) reportUnset(p *program) {
	name, _, _ := strings.Cut(p.session.Model(), "/")
	if e := p.endpoints.Named(name); e != nil && e.Unset != nil {
		a.printErr("%v: set it and restart winnow, or connect another model with /connect", e.Unset)
	}
}

// reportOpenFile reports, once per file, that other users can read or change the .env file,
// which contains keys.
func (a *app) reportOpenFile(ctx context.Context, p *program) {
	w := p.window.filter
	if w == nil || !w.FileExists() {
		return
	}
	others := privatefile.OthersCan(w.FileMode())
	if others == "" {
		return
	}
	key := "open file reported:" + w.EnvFile()
	if told, err := p.store.Get(ctx, key); err != nil || told != "" {
		return
	}
	a.printErr("other users of this machine can %s %s (mode %04o): chmod 600 makes it private", others, visible(filepath.Base(w.EnvFile())), w.FileMode().Perm())
	_ = p.store.Set(ctx, key, "yes") // if this fails, it will be reported again
}

// askEndpoints asks the endpoints for a model if the user has not named one. Otherwise it asks the selected endpoint
// for its current list of models. It does not wait for the answers. The pane gets them too; notify receives what the
// user should know.
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
			if errors.Is(err, llm.ErrModelGone) {
				notify(tui.Noticed{Err: err})
			} else if err != nil && ctx.Err() == nil {
				notify(tui.Noticed{NoAnswer: err})
			}
			return
		}
		c, err := p.endpoints.First(ctx)
		_, sent := p.session.LastSend()
		if ctx.Err() != nil || p.session.Model() != p.autoModel || p.session.Busy() || sent {
			return // the user has chosen a model or sent a message in the meantime
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
		if p.autoModel = c.ID; c.ID != endpoints.OfflineModel { // the first screen already explains the built-in rules
			notify(tui.Noticed{Text: safetext.Clean(c.Note)})
		}
	})
}

// examples returns example requests that make sense for the window.
func (p *program) examples(ctx context.Context) []string {
	if p.window.filter == nil {
		return append(p.searches(ctx), "list the topics", "list the sessions")
	}
	now, _ := p.window.filter.Snapshot()
	return now.(*modelfilter.Snapshot).ExampleRequests()
}

// searches returns at most one example request, a search for the longest word of a title. The title is that of the most
// recently used session that has messages and a title with a suitable word.
func (p *program) searches(ctx context.Context) []string {
	if p.store == nil {
		return nil
	}
	all, err := p.store.Sessions(ctx)
	if err != nil {
		return nil // the request is only an example
	}
	const shortest = 4 // the minimum number of letters in a word worth searching for
	for _, one := range all {
		best := ""
		for _, word := range strings.FieldsFunc(one.Title, func(r rune) bool { return !unicode.IsLetter(r) }) {
			if utf8.RuneCountInString(word) > max(utf8.RuneCountInString(best), shortest-1) {
				best = word
			}
		}
		if one.Pairs > 0 && best != "" {
			return []string{"find " + strings.ToLower(best)}
		}
	}
	return nil
}
