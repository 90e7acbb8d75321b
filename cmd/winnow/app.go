package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"winnow/adapters/config"
	"winnow/adapters/dotenv"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
	"winnow/tui/style"
)

// app is what one run of the program works with. Its parts are opened when a
// command first asks for them, and closed by close.
type app struct {
	ctx      context.Context // ends with the run, or when the user cancels it
	stop     context.CancelFunc
	signals  chan os.Signal
	stdin    io.Reader
	stdout   io.Writer
	stderr   io.Writer
	environ  []string
	flags    flags
	redactor *safetext.Redactor
	typed    <-chan string // lines typed as answers; nil before the first question

	settings *config.Settings
	home     *home
	store    history.Store
	log      *slog.Logger
	logging  sync.Mutex // guards the making of log
	level    slog.LevelVar
	exit     atomic.Int64 // the status of a program that a signal ended
	opening  *assembly    // what is opened beside a screen; nil without one

	closing sync.Mutex // guards closers
	closers []func() error
}

func newApp(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) *app {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, environ: os.Environ(), redactor: &safetext.Redactor{}}
	a.ctx, a.stop = context.WithCancel(ctx)
	log.SetFlags(0)
	log.SetOutput(&logLines{app: a, source: "standard logger"})
	a.signals = make(chan os.Signal, 1)
	signal.Notify(a.signals, os.Interrupt, syscall.SIGTERM)
	go a.cancelOnSignal()
	for _, e := range a.environ {
		if name, value, _ := strings.Cut(e, "="); dotenv.LooksSecret(name) && !folderNames[name] {
			a.redactor.Add(value)
		}
	}
	return a
}

// cancelOnSignal ends the run in order at the first signal; a second one ends
// the process as ever.
func (a *app) cancelOnSignal() {
	select {
	case <-a.signals:
		signal.Stop(a.signals)
		a.stop()
	case <-a.ctx.Done():
	}
}

// folderNames are variables that look like passwords and hold folders.
var folderNames = map[string]bool{"PWD": true, "OLDPWD": true}

// onClose has something done at the end, the last one first.
func (a *app) onClose(f func() error) {
	a.closing.Lock()
	defer a.closing.Unlock()
	a.closers = append(a.closers, f)
}

// lastCloser takes the newest of the closers; nil when there is none.
func (a *app) lastCloser() func() error {
	a.closing.Lock()
	defer a.closing.Unlock()
	n := len(a.closers)
	if n == 0 {
		return nil
	}
	f := a.closers[n-1]
	a.closers = a.closers[:n-1]
	return f
}

func (a *app) close() error {
	if a.opening != nil {
		a.opening.end()
	}
	var faults []error
	for f := a.lastCloser(); f != nil; f = a.lastCloser() {
		faults = append(faults, f())
	}
	a.stop()
	signal.Stop(a.signals)
	return errors.Join(faults...)
}

// lookupEnv reads a variable of the environment.
func (a *app) lookupEnv(name string) (string, bool) {
	for _, e := range a.environ {
		if k, v, ok := strings.Cut(e, "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

// env is the value of a variable of the environment; "" when it is not set.
func (a *app) env(name string) string {
	v, _ := a.lookupEnv(name)
	return v
}

// given is a flag's value, or else that of its variable.
func (a *app) given(flag, variable string) string {
	if flag != "" {
		return flag
	}
	return a.env(variable)
}

// folders says where winnow keeps its files, and makes sure that nobody else can
// replace them.
func (a *app) folders() (home, error) {
	if a.home != nil {
		return *a.home, nil
	}
	h, err := homeAt(a.given(a.flags.home, "WINNOW_HOME"))
	if err != nil {
		return home{}, err
	}
	for _, dir := range []string{h.one, h.config, h.data, h.state, h.cache} {
		if dir == "" {
			continue
		}
		notice, err := checkPrivate(dir)
		if err != nil {
			return home{}, err
		}
		if notice != "" {
			a.say("%s", notice)
		}
	}
	a.home = &h
	return h, nil
}

// config reads the settings, once.
func (a *app) config() (*config.Settings, error) {
	if a.settings != nil {
		return a.settings, nil
	}
	o, err := a.configOptions()
	if err != nil {
		return nil, err
	}
	a.settings, err = config.Load(o)
	return a.settings, err
}

func (a *app) configOptions() (config.Options, error) {
	h, err := a.folders()
	if err != nil {
		return config.Options{}, err
	}
	o := config.Options{Path: h.settings(), Environ: a.environ, Override: a.flags.settings(), Themes: style.Themes()}
	if named := a.given(a.flags.config, "WINNOW_CONFIG"); named != "" {
		o.Path, o.Needed = named, true
	}
	return o, nil
}

// folder is where winnow runs: the key of what was used last here.
func (a *app) folder() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// envFile is the .env file to work on.
func (a *app) envFile() string {
	return cmp.Or(a.given(a.flags.envFile, "WINNOW_ENV_FILE"), ".env")
}

// checkEnvFile refuses a .env file that the user named and that does not exist:
// it is more often a typing error than a wish for a new file.
func (a *app) checkEnvFile() error {
	named := a.given(a.flags.envFile, "WINNOW_ENV_FILE")
	if named == "" || a.flags.create {
		return nil
	}
	if _, err := os.Stat(named); errors.Is(err, fs.ErrNotExist) {
		return advise(fmt.Errorf("there is no file %s", named), "correct the name, or add --create to make the file")
	}
	return nil
}

// now is the clock.
func (a *app) now() time.Time { return time.Now() }
