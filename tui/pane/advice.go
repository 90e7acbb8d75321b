package pane

import (
	"regexp"

	"winnow/assistant"
	"winnow/assistant/llm"
)

// adviceByCode is what the user can do about a turn that ended with an error.
// {action} stands for the key of an action of the key table. With the default
// keys each sentence fits on one line of a screen of 80 cells.
var adviceByCode = map[string]string{
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
}

var actionInBraces = regexp.MustCompile(`\{([^}]+)\}`)

// Advice is a sentence on what the user can do about an error with this code, with
// the keys as bound: "Try again (r), or edit the message (e)." It is "" for a code
// that is not one of assistant's. An action without a key, all of them when keys
// is nil, is named without one.
func (keys Keys) Advice(code string) string {
	return actionInBraces.ReplaceAllStringFunc(adviceByCode[code], func(name string) string {
		if key := keys.key(name[1 : len(name)-1]); key != "" {
			return " (" + key + ")"
		}
		return ""
	})
}
