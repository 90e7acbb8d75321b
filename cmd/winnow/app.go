package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"

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

	settings *config.Settings
	place    *home
	store    *history.Store
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

// env reads a variable of the environment.
func (a *app) env(name string) string {
	for _, e := range a.environ {
		if k, v, _ := strings.Cut(e, "="); k == name {
			return v
		}
	}
	return ""
}

// given is a flag's value, or else that of its variable.
func (a *app) given(flag, variable string) string {
	if flag != "" {
		return flag
	}
	return a.env(variable)
}

// folders says where winnow keeps its things.
func (a *app) folders() (home, error) {
	if a.place == nil {
		h, err := homeAt(a.given(a.flags.home, "WINNOW_HOME"))
		if err != nil {
			return home{}, err
		}
		a.place = &h
	}
	return *a.place, nil
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

// The log is cut into pieces of this many MiB, and this many old ones stay.
const (
	logSize = 5
	logKept = 3
)

// logger writes the log. It never fails: a program that cannot log works all the same.
// Several goroutines of the start ask for it at once.
func (a *app) logger() *slog.Logger {
	a.logging.Lock()
	defer a.logging.Unlock()
	if a.log != nil {
		return a.log
	}
	a.log = slog.New(slog.DiscardHandler)
	h, err := a.folders()
	if err != nil {
		return a.log
	}
	if a.settings != nil {
		a.level.Set(logLevel(a.settings.LogLevel))
	}
	file := &lazyLog{path: h.log()}
	a.onClose(file.Close)
	a.log = slog.New(slog.NewJSONHandler(file, &slog.HandlerOptions{Level: &a.level, ReplaceAttr: a.redactor.ReplaceAttr}))
	return a.log
}

// lazyLog makes the folder of the log when something is first written.
type lazyLog struct {
	path string
	to   *lumberjack.Logger
	err  error
}

// Write implements io.Writer. slog's handler calls it from one goroutine at a time.
func (l *lazyLog) Write(p []byte) (int, error) {
	if l.to == nil && l.err == nil {
		if l.err = makePrivate(filepath.Dir(l.path)); l.err == nil {
			l.to = &lumberjack.Logger{Filename: l.path, MaxSize: logSize, MaxBackups: logKept}
		}
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.to.Write(p)
}

// Close closes the file, if one was opened.
func (l *lazyLog) Close() error {
	if l.to == nil {
		return nil
	}
	// A log that cannot be closed is nothing a user can do something about.
	_ = l.to.Close()
	return nil
}

func logLevel(name string) slog.Level {
	switch name {
	case "error":
		return slog.LevelError
	case "warning":
		return slog.LevelWarn
	case "debug":
		return slog.LevelDebug
	}
	return slog.LevelInfo
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
	if f := a.given(a.flags.envFile, "WINNOW_ENV_FILE"); f != "" {
		return f
	}
	return ".env"
}

// now is the clock.
func (a *app) now() time.Time { return time.Now() }
