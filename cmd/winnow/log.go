package main

import (
	"bufio"
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
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
	if a.settings != nil { // "warning" is slog's "warn"
		var level slog.Level
		if level.UnmarshalText([]byte(strings.TrimSuffix(a.settings.LogLevel, "ing"))) == nil {
			a.level.Set(level)
		}
	}
	file := &logFile{Logger: lumberjack.Logger{Filename: h.log(), MaxSize: logSize, MaxBackups: logBackups}}
	a.onClose(func() error {
		_ = file.Close() // nothing that a user could do something about
		return nil
	})
	a.log = slog.New(slog.NewJSONHandler(file, &slog.HandlerOptions{Level: &a.level, ReplaceAttr: a.redactor.ReplaceAttr}))
	return a.log
}

// logFile makes its folder, private, before the first line is written.
type logFile struct {
	lumberjack.Logger
	once sync.Once
	err  error
}

// Write implements io.Writer.
func (l *logFile) Write(p []byte) (int, error) {
	l.once.Do(func() { l.err = makePrivate(filepath.Dir(l.Filename)) })
	if l.err != nil {
		return 0, l.err
	}
	return l.Logger.Write(p)
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
// no library writes over the screen, and the text of a fatal error, which this
// process cannot read any more, into a file beside the log. release gives
// standard error back; stack is closed when the stack of a panic has come. Where
// the system cannot do this, nothing is captured.
func (a *app) captureStderr() (release func(), stack <-chan struct{}) {
	r, w, err := os.Pipe()
	if err != nil {
		return func() {}, nil
	}
	restore, err := redirectStderr(w)
	_ = w.Close() // descriptor 2 is a copy of it
	if err != nil {
		_ = r.Close()
		return func() {}, nil
	}
	a.crashOutput()
	read, panicked := make(chan struct{}), make(chan struct{})
	begun := sync.OnceFunc(func() { close(panicked) })
	go func() {
		defer close(read)
		lines, out := bufio.NewReader(r), &logLines{a, "stderr"}
		for {
			line, err := lines.ReadSlice('\n') // a longer line comes in pieces
			_, _ = out.Write(line)             // never fails
			if bytes.HasPrefix(line, []byte("goroutine ")) {
				begun()
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
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
	}), panicked
}

// crashOutput has the runtime write the text of a fatal error to a file of the
// state folder, if that is possible.
func (a *app) crashOutput() {
	h, err := a.folders()
	if err != nil || makePrivate(filepath.Dir(h.log())) != nil {
		return
	}
	if f, err := os.OpenFile(h.crash(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600); err == nil {
		_ = debug.SetCrashOutput(f, debug.CrashOptions{})
		_ = f.Close() // the runtime has a copy of the descriptor
	}
}
