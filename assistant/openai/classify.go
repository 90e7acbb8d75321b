package openai

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant/llm"
)

// overflowCode is OpenAI's error code for a request longer than the context.
const overflowCode = "context_length_exceeded"

// overflowPhrases occur in the messages that other endpoints send instead of overflowCode.
// Only these phrases and overflowCode cause trimming.
var overflowPhrases = []string{
	"context_length",
	"maximum context length",
	"too many tokens",
	"context too long",
	"exceeds context window",
	"request too large",
	"too large for",
}

// Words that identify the other kinds; Classify looks for them in the code and the message.
var (
	authWords  = []string{"invalid_api_key", "incorrect api key", "invalid api key", "api key not valid", "no api key", "missing api key", "authentication_error", "authentication failed", "unauthorized", "permission_denied"}
	quotaWords = []string{"insufficient_quota", "rate_limit", "rate limit", "ratelimit", "quota", "too many requests", "tokens per min", "requests per min", "(tpm)", "(rpm)", "insufficient credits", "insufficient balance", "billing", "resource_exhausted"}
	modelWords = []string{"model_not_found", "model not found", "does not exist", "deprecated", "decommissioned", "unknown model", "invalid model", "no such model", "is not a valid model", "model_not_available"}
	netWords   = []string{"overloaded", "bad gateway", "gateway timeout", "upstream", "connection error", "timed out"}
)

// Classify returns the kind of a failure from the HTTP status (0 if there was none), the
// endpoint's code or type, and its message. For an overflow, matched is the code or phrase
// that identified it; otherwise it is "".
func Classify(status int, code, message string) (kind llm.Kind, matched string) {
	code, message = strings.ToLower(code), strings.ToLower(message)
	if code == overflowCode {
		return llm.KindOverflow, overflowCode
	}
	for _, phrase := range overflowPhrases {
		if strings.Contains(message, phrase) {
			return llm.KindOverflow, phrase
		}
	}
	switch status {
	case 401, 403:
		return llm.KindAuth, ""
	case 402, 429:
		return llm.KindQuota, ""
	case 404:
		return llm.KindModel, ""
	case 408, 502, 503, 504, 520, 521, 522, 523, 524, 529:
		return llm.KindNet, ""
	}
	switch text := code + " " + message; {
	case containsAny(text, authWords):
		return llm.KindAuth, ""
	case containsAny(text, quotaWords):
		return llm.KindQuota, ""
	case containsAny(text, modelWords):
		return llm.KindModel, ""
	case containsAny(text, netWords):
		return llm.KindNet, ""
	}
	return llm.KindUnknown, ""
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// limitPattern finds the limit in an overflow message as worded by OpenAI, vLLM, llama.cpp,
// Anthropic or Gemini, or in a message about a token rate limit.
var limitPattern = regexp.MustCompile(`(?i)(?:` +
	`(?:maximum|max)\s+(?:model\s+|input\s+)?(?:context|tokens|length)[^0-9]{0,40}?|` +
	`context\s+(?:length|window|size|limit)[^0-9]{0,24}?|>\s*|` +
	`maximum number of tokens allowed[^0-9]{0,8}|\blimit:?\s+(?:is\s+|of\s+)?)([0-9][0-9,_]*)`)

// contextLimit returns the limit in tokens that message contains, or 0.
func contextLimit(message string) int {
	const minLimit = 256 // smaller numbers are not context limits
	for _, found := range limitPattern.FindAllStringSubmatch(message, -1) {
		n, err := strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(found[1]))
		if err == nil && n >= minLimit && n <= maxCount {
			return n
		}
	}
	return 0
}
