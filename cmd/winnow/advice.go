package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"winnow/adapters/config"
	"winnow/adapters/dotenv"
	"winnow/adapters/endpoints"
	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/advice"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/checkpoint"
)

// adviceError is an error with a description of what the user can do next.
type adviceError struct {
	err    error
	advice string
}

func (e *adviceError) Error() string { return e.err.Error() }
func (e *adviceError) Unwrap() error { return e.err }

// advise wraps err with what the user can do next. It returns nil for a nil err.
func advise(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &adviceError{err, fmt.Sprintf(format, args...)}
}

// has reports whether err is, or wraps, an error of type E.
func has[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// nextStep returns what the user can do about err, or "" if there is no advice or the message of err contains it.
func nextStep(err error) string {
	advised, isAdvice := errors.AsType[*adviceError](err)
	named, isNamed := errors.AsType[*endpoints.EndpointError](err)
	listed, isList := errors.AsType[*endpoints.ListError](err)
	request, isRequest := errors.AsType[*llm.RequestError](err)
	unsafe, isUnsafe := errors.AsType[*config.UnsafeError](err)
	unknown, isUnknown := errors.AsType[*modelfilter.UnknownError](err)
	switch {
	case isAdvice:
		return advised.advice
	case isNamed && named.What == "provider":
		return fmt.Sprintf("known providers: %s; add others as [[provider]] in the settings (winnow config edit), or use --base-url", strings.Join(named.Names, ", "))
	case isNamed && named.What == "--base-url":
		return ""
	case isNamed:
		return "correct the variable or unset it"
	case has[*endpoints.KeyError](err):
		return "set the key, or reconnect the endpoint: winnow config connect"
	case isList && listed.Err == nil:
		return fmt.Sprintf("name one with -m %s/NAME", listed.Endpoint.Name)
	case isList:
		next := fmt.Sprintf("name a model with -m %s/NAME", listed.Endpoint.Name)
		if other := nextStep(listed.Err); other != "" {
			next += ", or " + other
		}
		return next
	case has[*llm.ConfigError](err), has[*endpoints.ModelNameError](err):
		return "use another model, for example -m " + endpoints.OfflineModel + "; winnow models --chat lists the models, and a [[provider]] in the settings or OPENAI_API_KEY adds more"
	case has[*checkpoint.LockedError](err):
		return requestAdvice(assistant.CodeLocked)
	case has[*history.NewerSchemaError](err), has[*checkpoint.VersionError](err):
		return "use the newer version of winnow, or another folder with --home"
	case has[*history.FileError](err):
		return "replace it with a file or folder that only you can write to (for a folder: chmod 700), or use another folder with --home"
	case isUnsafe:
		return folderAdvice(unsafe)
	case has[*dotenv.ChangedError](err):
		return "winnow rules diff shows your changes and the changes in the file; save again to apply yours to the current file"
	case isUnknown && unknown.What == "provider":
		return "winnow models lists the providers"
	case isRequest:
		return requestAdvice(string(request.Kind))
	case errors.Is(err, syscall.EROFS) && has[*dotenv.FileError](err): // the message already says what to do
		return ""
	}
	if next := systemAdvice(err); next != "" {
		return next
	}
	_, next := advice.ForError(err, flagNames)
	return next
}

// folderAdvice returns what to do about a folder whose files other users can replace.
func folderAdvice(err *config.UnsafeError) string {
	const next = "use another folder with --home"
	if err.Parent != "" {
		return next + ", or chmod o-w " + err.Parent
	}
	return next
}

// systemAdvice returns what to do about an error of the operating system, or "".
func systemAdvice(err error) string {
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "too many files are open: raise the limit (ulimit -n) or close other programs"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "the disk is full: free some space; for winnow's own files, --home can name a folder on another disk"
	case errors.Is(err, syscall.EROFS):
		return "use a writable folder; for winnow's own files, name it with --home DIR"
	case errors.Is(err, fs.ErrPermission):
		return "check the owner and mode of the file and its folder"
	}
	return ""
}

// requestAdvice returns what to do about a failed request or tool call with this error code, or "".
func requestAdvice(code string) string {
	text := advice.ForCode(code, func(action string) string {
		if action == advice.Models {
			return "-m; winnow models --chat lists the models"
		}
		return ""
	})
	if text == "" {
		return ""
	}
	return strings.ToLower(text[:1]) + strings.TrimSuffix(text[1:], ".")
}

// flagNames returns the command-line flag that replaces a key of the screen in advice, or "".
func flagNames(action string) string {
	switch action {
	case advice.Models:
		return "-m"
	case advice.Force:
		return "--force"
	}
	return ""
}
