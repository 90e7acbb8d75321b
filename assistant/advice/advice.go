// Package advice is what a user can do about an error: of a turn, by its code, and of what
// a front end asks of the workspace.
//
// What to do is symbolic, the name of an action of the key table: each front end puts its
// keys, its commands or its flags in its place. All functions are pure and may be called
// from any goroutine.
package advice

import (
	"context"
	"errors"
	"io/fs"
	"regexp"

	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/share"
	"winnow/assistant/workspace"
)

// The actions of advice that are not in the key table.
const (
	Models = "models" // choose a model
	Force  = "force"  // overwrite what exists
)

// byCode has a sentence for each code. {action} stands for how the front end does it. With
// the default keys each sentence fits on one line of a screen of 80 cells.
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
	assistant.CodeLocked:           "Try again{retry} when it is done, or close it.",
}

var actionInBraces = regexp.MustCompile(`\{([^}]+)\}`)

// For is a sentence on what to do about an error with this code, with what way returns for
// its actions: "Try again (r), or edit the message (e)." An action for which way returns ""
// is named without one, as are all when way is nil. For is "" for an unknown code.
func For(code string, way func(action string) string) string {
	return actionInBraces.ReplaceAllStringFunc(byCode[code], func(name string) string {
		if way != nil {
			if how := way(name[1 : len(name)-1]); how != "" {
				return " (" + how + ")"
			}
		}
		return ""
	})
}

// byError has what to do about errors that the workspace refuses with.
var byError = []struct {
	err          error
	cause        string // "" is the text of the error
	action, does string // action is "" where does is the whole clause
}{
	{assistant.ErrBusy, "", "escape", "cancels"},
	{assistant.ErrNoModel, "no model is selected", Models, "chooses one"},
	{llm.ErrModelGone, "", Models, "chooses another"},
	{llm.ErrNoVision, "", Models, "chooses another"},
	{workspace.ErrNotLast, "", "re-ask", "edits and asks again"},
	{workspace.ErrNoHistory, "without a history there is only this session", "", ""},
	{fs.ErrExist, "", Force, "overwrites it"},
	{context.Canceled, "cancelled", "", ""},
}

// Of is what a user reads about an error: its cause, and what to do, in which way names the
// action: "ctrl+l chooses another". next is "" when nothing is known, or when way returns
// "" for the action.
func Of(err error, way func(action string) string) (cause, next string) {
	if errors.As(err, new(*share.HeldError)) {
		return err.Error(), "try again when that turn has ended"
	}
	for _, known := range byError {
		if !errors.Is(err, known.err) {
			continue
		}
		cause, next = known.cause, known.does
		if cause == "" {
			cause = err.Error()
		}
		if known.action == "" {
			return cause, next
		}
		if how := way(known.action); how != "" {
			return cause, how + " " + next
		}
		return cause, ""
	}
	return err.Error(), ""
}
