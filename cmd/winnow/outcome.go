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
	"winnow/assistant/llm"
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

// maxLine and maxName bound, in cells, a sentence on standard error and a name
// in it: nobody reads more of a hostile one.
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

// advise adds what to do next to an error; a nil err stays nil.
func advise(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &adviceError{err, fmt.Sprintf(format, args...)}
}

// statusError ends a command with a status and no words of its own.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("status %d", int(e)) }

const errPending = statusError(statusPending)

// report tells the user what went wrong and returns the exit status.
func (a *app) report(err error) int {
	var status statusError
	var usage *usageError
	var setting *config.Error
	switch {
	case err == nil:
		return statusDone
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &usage):
		a.say("winnow: %s", usage.fault)
		a.say("%s --help tells more", usage.command)
		return statusUsage
	case errors.Is(err, context.Canceled):
		a.say("cancelled")
		a.say("%s", nextStep(err))
		return statusCancelled
	}
	for _, line := range sentences(err) {
		a.say("winnow: %s", line)
	}
	a.say("%s", nextStep(err))
	if errors.As(err, &setting) && strings.HasPrefix(setting.Where, "--") {
		return statusUsage
	}
	return statusFailed
}

// sentences is an error as lines: one for each of those that were joined.
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
	var (
		advice  *adviceError
		locked  *checkpoint.LockedError
		newer   *history.NewerSchemaError
		refused *history.FileError
		version *checkpoint.VersionError
		changed *dotenv.ChangedError
		unknown *modelfilter.UnknownError
		request *llm.RequestError
	)
	switch {
	case errors.As(err, &advice):
		return advice.next
	case errors.As(err, &locked):
		return "close the other winnow that has this window open, or try again when it is done"
	case errors.As(err, &newer), errors.As(err, &version):
		return "use the newer winnow, or another --home"
	case errors.As(err, &refused):
		return "put a file or folder that only you can write in its place (chmod 700 a folder), or name another folder with --home"
	case errors.Is(err, fs.ErrExist):
		return "--force overwrites it"
	case errors.As(err, &changed):
		return "winnow rules diff shows both; save again to put your changes on top of the file as it is now"
	case errors.As(err, &unknown) && unknown.What == "provider":
		return "winnow models lists the providers"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "too many files are open: raise the limit (ulimit -n) or close other programs"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "the disk is full: free some space, or name a folder on another disk with --home"
	case errors.As(err, &request):
		return requestAdvice(string(request.Kind))
	case errors.Is(err, syscall.EROFS):
		return "winnow keeps a lock and its log beside what it reads: --home DIR names a folder that can be written"
	case errors.Is(err, fs.ErrPermission):
		return "check owner and mode of the file and of its folder"
	}
	return ""
}

// requestAdvice is what to do about a failed request, by the code of its error.
func requestAdvice(code string) string {
	switch code {
	case string(llm.KindAuth):
		return "check the key: winnow doctor shows which endpoint is used and where its key comes from"
	case string(llm.KindQuota):
		return "wait, or choose another model with -m; winnow models --chat lists them"
	case string(llm.KindNet):
		return "check the address and that the server runs, or use -m offline/rules; winnow doctor tells more"
	case string(llm.KindModel):
		return "winnow models --chat lists the models there are; choose one with -m"
	case string(llm.KindOverflow), assistant.CodePromptTooLarge, assistant.CodeOverflowTrimmed:
		return "send less text, or choose a model with a larger context with -m"
	}
	return ""
}

// requestText is a failed request in the endpoint's words, else its own.
func requestText(err error) string {
	var r *llm.RequestError
	if errors.As(err, &r) && r.Message != "" {
		return fmt.Sprintf("%s: %s", r.Kind, r.Message)
	}
	return err.Error()
}
