package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"winnow/adapters/config"
	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
	"winnow/checkpoint"
)

// The exit status of spec §12.
const (
	statusDone      = 0
	statusFailed    = 1
	statusUsage     = 2
	statusPending   = 3
	statusCancelled = 130
)

// maxLine is the width of a sentence on standard error, maxName that of a
// name in it: more of a hostile one helps nobody.
const (
	maxLine = 2000
	maxName = 120
)

// usageError is a command line that was not understood.
type usageError struct{ command, fault string }

func (e *usageError) Error() string { return e.fault }

// adviceError is a failure with what to do next.
type adviceError struct {
	err  error
	next string // a sentence
}

func (e *adviceError) Error() string { return e.err.Error() }
func (e *adviceError) Unwrap() error { return e.err }

// advise adds what to do next to an error.
func advise(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &adviceError{err, fmt.Sprintf(format, args...)}
}

// statusError ends a command with a status and no words of its own.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("status %d", int(e)) }

var errPending = statusError(statusPending)

// report tells the user what went wrong and returns the exit status.
func (a *app) report(err error) int {
	var status statusError
	var wrong *usageError
	switch {
	case err == nil:
		return statusDone
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &wrong):
		a.say("winnow: %s", wrong.fault)
		a.say("%s --help tells more", wrong.command)
		return statusUsage
	case errors.Is(err, context.Canceled):
		a.say("cancelled")
		return statusCancelled
	}
	for _, line := range sentences(err) {
		a.say("winnow: %s", line)
	}
	if next := nextStep(err); next != "" {
		a.say("%s", next)
	}
	var fault *config.Error
	if errors.As(err, &fault) && strings.HasPrefix(fault.Where, "--") {
		return statusUsage
	}
	return statusFailed
}

// say writes one line to standard error, safe and without keys.
func (a *app) say(format string, args ...any) {
	text := a.redactor.Redact(fmt.Sprintf(format, args...))
	fmt.Fprintln(a.stderr, a.signs(safetext.Line(text, maxLine)))
}

// sentences is what is said of an error: a line each of those that were joined.
func sentences(err error) []string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []string
		for _, e := range joined.Unwrap() {
			out = append(out, sentences(e)...)
		}
		return out
	}
	text := err.Error()
	for _, prefix := range []string{"checkpoint: ", "history: ", "config: ", "dotenv: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return []string{text}
}

// nextStep is what the user can do about an error; "" when the error says it.
func nextStep(err error) string {
	var advice *adviceError
	if errors.As(err, &advice) {
		return advice.next
	}
	var (
		locked   *checkpoint.LockedError
		newer    *history.NewerSchemaError
		version  *checkpoint.VersionError
		changed  *dotenv.ChangedError
		fixed    *modelfilter.FixedError
		unknown  *modelfilter.UnknownError
		request  *assistant.RequestError
		settings *config.Error
	)
	switch {
	case errors.As(err, &locked):
		return "close the other winnow that has this window open, or try again when it is done"
	case errors.As(err, &newer), errors.As(err, &version):
		return "use the newer winnow, or another --home"
	case errors.As(err, &changed):
		return "winnow rules diff shows both; save again to put your changes on top of the file as it is now"
	case errors.As(err, &fixed), errors.As(err, &settings):
		return ""
	case errors.As(err, &unknown) && unknown.What == "provider":
		return "winnow models lists the providers"
	case errors.As(err, &request):
		return kindAdvice(string(request.Kind))
	case errors.Is(err, syscall.EROFS):
		return "winnow keeps a lock and its log beside what it reads: --home DIR names a folder that can be written"
	case errors.Is(err, fs.ErrPermission):
		return "check owner and mode of the file and of its folder"
	}
	return ""
}

// kindAdvice is what to do about a failed request.
func kindAdvice(code string) string {
	switch code {
	case string(assistant.KindAuth):
		return "check the key: winnow doctor shows which endpoint is used and where its key comes from"
	case string(assistant.KindQuota):
		return "wait, or choose another model with -m; winnow models --chat lists them"
	case string(assistant.KindNet):
		return "check the address and that the server runs, or use -m offline/rules; winnow doctor tells more"
	case string(assistant.KindModel):
		return "winnow models --chat lists the models there are; choose one with -m"
	case string(assistant.KindOverflow), assistant.CodePromptTooLarge, assistant.CodeOverflowTrimmed:
		return "send less text, or choose a model with a larger context with -m"
	case string(assistant.KindInterrupted):
		return "ask again; nothing of the unfinished answer was carried out"
	}
	return ""
}
