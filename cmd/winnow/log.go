package main

import (
	"bufio"
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"gopkg.in/natefinch/lumberjack.v2"

	"winnow/assistant/safetext"
)

// The log is rotated at logSize MiB; logBackups old files stay.
const (
	logSize    = 5
	logBackups = 3
)

// logger returns the log, which it opens at the first call. It never fails: a
// program that cannot log works without one. It is safe from any goroutine.
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
			l.to = &lumberjack.Logger{Filename: l.path, MaxSize: logSize, MaxBackups: logBackups}
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

// logLines writes lines that others print, such as net/http through the standard
// logger, into the log: sanitised, and without keys. Nothing but winnow writes on
// the terminal.
type logLines struct {
	app    *app
	source string // which stream the lines come from
}

// Write implements io.Writer. The standard logger calls it with whole lines.
func (l *logLines) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		if text := safetext.Line(string(line), maxLine); text != "" {
			l.app.logger().Warn(text, "source", l.source)
		}
	}
	return len(p), nil
}

// captureStderr sends what is written to file descriptor 2 into the log, so that
// no library writes over the screen. The crash text of a panic in a goroutine of
// a library goes into a file beside the log. release gives standard error back.
// Where the system cannot do this, nothing is captured.
func (a *app) captureStderr() (release func()) {
	r, w, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	restore, err := redirectStderr(w)
	_ = w.Close() // descriptor 2 is a copy of it
	if err != nil {
		_ = r.Close()
		return func() {}
	}
	closeCrash := a.crashOutput()
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines, out := bufio.NewReader(r), &logLines{a, "stderr"}
		for {
			line, err := lines.ReadSlice('\n') // a longer line comes in pieces
			if len(line) > 0 {
				_, _ = out.Write(line) // never fails
			}
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		restore()
		<-read
		_ = r.Close()
		closeCrash()
	})
}

// crashOutput has the runtime write the text of a fatal error to a file of the
// state folder.
func (a *app) crashOutput() (stop func()) {
	h, err := a.folders()
	if err != nil || makePrivate(filepath.Dir(h.log())) != nil {
		return func() {}
	}
	f, err := os.OpenFile(h.crash(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return func() {}
	}
	defer f.Close() // the runtime keeps a copy of the descriptor
	if debug.SetCrashOutput(f, debug.CrashOptions{}) != nil {
		return func() {}
	}
	return func() { _ = debug.SetCrashOutput(nil, debug.CrashOptions{}) }
}
