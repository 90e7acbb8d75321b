// Package advice suggests what a user can do about an error. It looks up an error of a turn by its code, and an
// error of the workspace by its value.
//
// Advice is symbolic: it contains the name of an action, usually one in the key table, and each front end replaces the
// name with its own key, command or flag. All functions are pure and may be called from any goroutine.
package advice

import (
	"context"
	"errors"
	"io/fs"
	"regexp"

	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/windowlock"
	"winnow/assistant/workspace"
)

// Actions in advice that are not in the key table.
const (
	Models = "models" // choose a model
	Force  = "force"  // overwrite what exists
)

// byCode contains a sentence for each code. {action} stands for the way in which the front end performs that
// action. With the default keys, each sentence fits on one line of 80 cells.
var byCode = map[string]string{
	string(llm.KindAuth):           "Check the API key with winnow doctor, or choose another model{models}.",
	string(llm.KindQuota):          "Wait and try again{retry}, add credit or choose another model{models}.",
	string(llm.KindNet):            "Try again{retry}, choose another model{models} or run winnow doctor.",
	string(llm.KindModel):          "Choose another model{models}, or check the base URL with winnow doctor.",
	string(llm.KindOverflow):       "Shorten the message{re-ask}, or choose a model with more context{models}.",
	string(llm.KindInterrupted):    "Try again{retry}, or rephrase the message{re-ask}.",
	string(llm.KindUnknown):        "Try again{retry}, choose another model{models} or run winnow doctor.",
	assistant.CodeCancelled:        "Try again{retry}, or edit the message{re-ask}.",
	assistant.CodeInvalidToolCalls: "Try again{retry}, or choose another model{models}.",
	assistant.CodePromptTooLarge:   "Shorten the message{re-ask}, or choose a model with more context{models}.",
	assistant.CodeOverflowTrimmed:  "Shorten the message{re-ask}, or choose a model with more context{models}.",
	assistant.CodeLocked:           "Try again{retry} when the other program is done, or close it.",
}

var actionInBraces = regexp.MustCompile(`\{([^}]+)\}`)

// ForCode returns a sentence on what to do about an error with this code, such as "Try again (r), or edit the message
// (e)." way returns how to perform an action, shown in parentheses; the parentheses are omitted if it returns "" or
// is nil. For an unknown code, ForCode returns "".
func ForCode(code string, way func(action string) string) string {
	return actionInBraces.ReplaceAllStringFunc(byCode[code], func(name string) string {
		if way != nil {
			if how := way(name[1 : len(name)-1]); how != "" {
				return " (" + how + ")"
			}
		}
		return ""
	})
}

// byError lists what to do about errors returned by the workspace.
var byError = []struct {
	err          error
	cause        string // "" means the text of the error
	action, does string // the action and what it does; both are "" if there is no advice
}{
	{assistant.ErrBusy, "", "escape", "cancels"},
	{assistant.ErrNoModel, "no model is selected", Models, "chooses one"},
	{llm.ErrModelGone, "", Models, "chooses another"},
	{llm.ErrNoVision, "", Models, "chooses another"},
	{workspace.ErrNotLast, "", "re-ask", "edits and asks again"},
	{workspace.ErrNoHistory, "there is only this session, because no history is stored", "", ""},
	{fs.ErrExist, "", Force, "overwrites it"},
	{context.Canceled, "cancelled", "", ""},
}

// packageNames matches the names of packages at the start of an error, which mean nothing to a user.
var packageNames = regexp.MustCompile(`^(?:(?:checkpoint|history|config|dotenv|sqlstore|postgres): )+`)

// Text returns the message of an error for a user, without the name of the package that it comes from.
func Text(err error) string {
	text := err.Error()
	return text[len(packageNames.FindString(text)):]
}

// ForError returns the cause of an error and what to do about it, with the action as named by way: "ctrl+l chooses
// another". next is "" if there is no advice or way returns "" for the action.
func ForError(err error, way func(action string) string) (cause, next string) {
	if errors.As(err, new(*windowlock.LockedError)) {
		return Text(err), "try again when it has finished"
	}
	for _, known := range byError {
		if !errors.Is(err, known.err) {
			continue
		}
		cause, next = known.cause, known.does
		if cause == "" {
			cause = Text(err)
		}
		if known.action == "" {
			return cause, next
		}
		if how := way(known.action); how != "" {
			return cause, how + " " + next
		}
		return cause, ""
	}
	return Text(err), ""
}
