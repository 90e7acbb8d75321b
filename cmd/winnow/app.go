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
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"winnow/adapters/aftersave"
	"winnow/adapters/config"
	"winnow/adapters/mcptools"
	"winnow/assistant/history"
	"winnow/assistant/history/postgres"
	"winnow/assistant/safetext"
	"winnow/tui/style"
)

// app is one run of a command line, by the local user or by a remote one. Its parts are opened on first use and closed
// by close.
type app struct {
	ctx      context.Context // cancelled when the run ends or at the first signal
	stop     context.CancelFunc
	stdin    io.Reader
	stdout   io.Writer
	stderr   io.Writer
	environ  []string
	flags    flags
	program  string            // the running command, such as "winnow ask"
	endStart func(percent int) // set by main to the result of delayGC; else it does nothing
	redactor *safetext.Redactor

	settings   *config.Settings
	storing    sync.Mutex // held while a setting is stored
	home       *config.Home
	homeMu     sync.Mutex // guards home
	store      history.Store
	log        *slog.Logger
	logMu      sync.Mutex // guards log
	logLevel   slog.LevelVar
	remote     *remote         // the user of the SSH connection; nil for a local user
	serving    bool            // the command is winnow serve, which can log to stderr (see the setting log)
	onScreen   bool            // standard output is the terminal of a remote user
	background *backgroundOpen // opens the program while the screen is drawn; nil without a screen

	tools *mcptools.Client // the MCP servers; nil before startTools or without servers

	onNotice atomic.Pointer[func(safetext.Text)] // shows reports of MCP servers and results of after_save; if nil, they are printed

	applier *aftersave.Runner               // runs the command of after_save; nil without that setting or before a window is opened
	applied atomic.Pointer[journaledWindow] // the window whose saves applier applies

	historyWaits chan bool // the latest argument of onHistoryWait that has not been shown

	deferMu   sync.Mutex // guards deferring and deferred
	deferring bool       // while a screen is drawn, printErr defers its lines
	deferred  []string   // without duplicates

	reload atomic.Pointer[func()] // reads files again after SIGHUP; if nil, SIGHUP ends the run

	closeMu sync.Mutex // guards closers
	closers []func() error
}

func newApp(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) *app {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, environ: os.Environ(), redactor: &safetext.Redactor{}, historyWaits: make(chan bool, 1), endStart: func(int) {}}
	log.SetFlags(0)
	log.SetOutput(&logLines{app: a, source: "standard logger"})
	// Keep ignoring signals that the parent ignores, such as SIGHUP under nohup.
	endSignals := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}, signal.Ignored)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endSignals...)
	ctx, cancel := context.WithCancelCause(ctx)
	a.ctx, a.stop = ctx, func() { signal.Stop(signals); cancel(nil) }
	go func() {
		for ctx.Err() == nil {
			select {
			case s := <-signals:
				if !a.reloads(s) {
					cancel(signalError{s.(syscall.Signal)})
				}
			case <-ctx.Done():
			}
		}
		a.stop() // restores the default signal handling, so that a second signal ends the process at once
	}()
	for _, e := range a.environ {
		if name, value, _ := strings.Cut(e, "="); config.IsKey(name, value) {
			a.redactor.Add(value)
		}
	}
	return a
}

// dropKeys removes the API keys from the environment of the process, because programs that libraries start
// (for the clipboard, for example) inherit it. a.environ still holds the keys.
func (a *app) dropKeys() {
	without := config.WithoutKeys(a.environ, a.redactor)
	for _, entry := range a.environ {
		if name, _, _ := strings.Cut(entry, "="); !slices.Contains(without, entry) {
			_ = os.Unsetenv(name) // fails only for invalid names
		}
	}
}

// onClose registers f to be called by close, in reverse order of registration.
func (a *app) onClose(f func() error) {
	a.closeMu.Lock()
	defer a.closeMu.Unlock()
	a.closers = append(a.closers, f)
}

func (a *app) close() error {
	if a.background != nil {
		a.background.end()
	}
	defer a.stop()
	return a.closeAfter(0)
}

// closeAfter calls and removes the registered closers except the first n.
func (a *app) closeAfter(n int) (err error) {
	for {
		a.closeMu.Lock()
		closers := slices.Clone(a.closers[n:])
		a.closers = slices.Delete(a.closers, n, len(a.closers))
		a.closeMu.Unlock()
		if len(closers) == 0 {
			return err
		}
		for _, f := range slices.Backward(closers) { // a closer may register another
			err = errors.Join(err, f())
		}
	}
}

// env returns the value of an environment variable, or "" if it is not set.
func (a *app) env(name string) string {
	v, _ := config.Lookup(a.environ, name)
	return v
}

// flagOrEnv returns the value of a flag or, if that is empty, of an environment variable.
func (a *app) flagOrEnv(flag, variable string) string {
	return cmp.Or(flag, a.env(variable))
}

// folders returns winnow's folders after checking that no other user can replace their contents.
// It is safe for concurrent use.
func (a *app) folders() (config.Home, error) {
	a.homeMu.Lock()
	defer a.homeMu.Unlock()
	if a.home != nil {
		return *a.home, nil
	}
	h, err := config.HomeAt(a.flagOrEnv(a.flags.home, "WINNOW_HOME"))
	if err != nil {
		return h, err
	}
	notices, err := h.Check()
	if err != nil {
		return h, err
	}
	for _, notice := range notices {
		a.printErr("%s", notice)
	}
	a.home = &h
	return h, nil
}

// config returns the settings. It reads them until it succeeds, and then always returns the same value.
func (a *app) config() (*config.Settings, error) {
	if a.settings != nil {
		return a.settings, nil
	}
	o, err := a.configOptions()
	if err != nil {
		return nil, err
	}
	s, err := config.Load(o)
	if err != nil {
		return nil, err
	}
	if postgres.HasPassword(s.History) || postgres.HasPassword(s.HistoryListen) {
		return nil, errPassword // a.settings stays nil, so that nothing can print the password later
	}
	a.settings = s
	var level slog.Level
	_ = level.UnmarshalText([]byte(strings.TrimSuffix(a.settings.LogLevel, "ing"))) // slog calls this level "warn"; config.Load has checked the value
	a.logLevel.Set(level)
	return a.settings, nil
}

func (a *app) configOptions() (config.Options, error) {
	h, err := a.folders()
	if err != nil {
		return config.Options{}, err
	}
	o := config.Options{Path: h.Settings(), Environ: a.environ, Override: a.flags.settings(), Themes: style.Themes()}
	if named := a.flagOrEnv(a.flags.config, "WINNOW_CONFIG"); named != "" {
		o.Path, o.Required = named, true
		if notice := config.RepairFile(named); notice != "" {
			a.printErr("%s", notice)
		}
	}
	return o, nil
}

// folder returns the working folder with symbolic links resolved; folder-specific data is stored under this path.
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

// envFile returns the path of the .env file to work on.
func (a *app) envFile() string {
	return cmp.Or(a.flagOrEnv(a.flags.envFile, "WINNOW_ENV_FILE"), ".env")
}

// proxyData returns the proxy's data folder: by default the folder of its .env file.
func (a *app) proxyData() string {
	return cmp.Or(a.settings.ProxyData, filepath.Dir(a.envFile()))
}

// checkEnvFile returns an error if the user named a .env file that does not exist, which is usually a typo. With
// --create it returns nil.
func (a *app) checkEnvFile() error {
	named := a.flagOrEnv(a.flags.envFile, "WINNOW_ENV_FILE")
	if named == "" || a.flags.create {
		return nil
	}
	if _, err := os.Stat(named); errors.Is(err, fs.ErrNotExist) {
		return advise(fmt.Errorf("there is no file %s", named), "correct the name, or add --create to create the file")
	}
	return nil
}

// flags holds the flags that all commands accept, and the session flags that only the program and ask accept.
type flags struct {
	set *pflag.FlagSet

	model, provider, baseURL string
	envFile, config, home    string
	window, logLevel         string
	json, noColor, plain     bool
	create                   bool   // create the named .env file
	resumeLast               bool   // --continue
	session, telemetry       string // only for the program and ask
	telemetryMessages        bool
	command                  *pflag.FlagSet // the flags of a command that declares one of settingFlags itself; may be nil
}

// bind declares the flags on the root command.
func (f *flags) bind(root *cobra.Command) {
	p := root.PersistentFlags()
	f.set = p
	p.StringVarP(&f.model, "model", "m", "", "the model to talk to, as PROVIDER/NAME")
	p.StringVar(&f.provider, "provider", "", "the NAME of the endpoint to talk to or, for winnow rules and winnow models, of the provider in the .env file")
	p.StringVar(&f.baseURL, "base-url", "", "the URL of an OpenAI-compatible endpoint")
	p.StringVar(&f.window, "window", "", "the WINDOW that the assistant works on: model-filter or history (the chat history)")
	p.StringVar(&f.envFile, "env-file", "", "the proxy's .env FILE (default ./.env)")
	p.BoolVar(&f.create, "create", false, "create the file named by --env-file if it does not exist")
	p.String("history", "", "the postgres:// ADDRESS of a team's history (default: a local file)")
	p.StringVar(&f.config, "config", "", "the settings FILE")
	p.StringVar(&f.home, "home", "", "the DIR for settings, history, state and cache")
	p.BoolVar(&f.json, "json", false, "print JSON")
	p.BoolVar(&f.noColor, "no-color", false, "use no colours")
	p.StringVar(&f.logLevel, "log-level", "", "the LEVEL of the log: error, warning, info or debug")
	p.BoolVar(&f.plain, "plain", false, "print lines instead of using the alternate screen")
	f.bindSession(root)
}

// bindRemote declares the flags allowed over SSH, none of which name a file or an address.
func (f *flags) bindRemote(root *cobra.Command) {
	f.set = root.PersistentFlags()
	f.set.StringVarP(&f.model, "model", "m", "", "the model to talk to, as PROVIDER/NAME")
	f.set.StringVar(&f.provider, "provider", "", "the NAME of the provider that the rules belong to")
	f.set.BoolVar(&f.json, "json", false, "print JSON")
}

// bindSession declares the flags that resume a session.
func (f *flags) bindSession(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.resumeLast, "continue", false, "resume the last session of this folder")
	cmd.Flags().StringVar(&f.session, "session", "", "resume the session with this ID; its first characters are enough")
	cmd.Flags().StringVar(&f.telemetry, "telemetry", "", "append a record of each request to FILE")
	cmd.Flags().BoolVar(&f.telemetryMessages, "telemetry-messages", false, "include the messages of the request in each record")
	exclusive(cmd, "continue", "session")
}

// settingFlags are the flags that override the setting of the same name.
var settingFlags = []string{"model", "window", "history", "log-level", "plain", "session-idle", "log", "log-format"}

// settings returns the settingFlags that were given on the command line.
func (f *flags) settings() []config.Flag {
	var out []config.Flag
	for _, name := range settingFlags {
		flag := f.set.Lookup(name)
		if flag == nil && f.command != nil {
			flag = f.command.Lookup(name)
		}
		if flag != nil && flag.Changed {
			out = append(out, config.Flag{Name: "--" + name, Key: strings.ReplaceAll(name, "-", "_"), Value: flag.Value.String()})
		}
	}
	return out
}
