package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"winnow/assistant/llm"
)

const (
	maxErrorBody = 64 << 10 // how many bytes of an error body are read
	maxMessage   = 600      // how many runes of an endpoint's message are used: sentences, not a stack trace
)

// failure is an error as the endpoint sent it, not yet sanitised.
type failure struct {
	code    string // the code if it is a word, otherwise the type
	status  int    // the code if it is an HTTP status
	message string
	page    bool // the body is a web page, and message is its title
}

// readFailure reads an error in any of the forms that endpoints use: text, an object with
// message, code and type, or a list of these. null and {} are not errors.
func readFailure(v gjson.Result) *failure {
	if !v.Exists() {
		return nil
	}
	f := &failure{}
	if f.read(v, 0); *f == (failure{}) {
		return nil
	}
	return f
}

// maxNesting is the depth to which an error is read.
const maxNesting = 16

func (f *failure) read(v gjson.Result, depth int) {
	switch {
	case depth > maxNesting:
	case v.Type == gjson.String:
		f.addMessage(v.Str)
	case v.Type == gjson.True:
		f.addMessage("the endpoint reports an error")
	case v.IsArray(), v.IsObject():
		v.ForEach(func(name, inner gjson.Result) bool {
			if v.IsArray() {
				f.read(inner, depth+1)
			} else {
				f.addMember(name.Str, inner, depth)
			}
			return true
		})
	}
}

func (f *failure) addMember(name string, v gjson.Result, depth int) {
	switch name {
	case "message", "msg", "error_message", "reason", "title", "detail", "details", "error", "errors", "metadata", "raw":
		var inner failure
		inner.read(v, depth+1)
		f.addMessage(inner.message)
		if f.code == "" || inner.code == overflowCode {
			f.code = inner.code
		}
		if f.status == 0 {
			f.status = inner.status
		}
	case "code", "status", "error_code": // a word or an HTTP status
		switch n, ok := number(v); {
		case !ok && v.Str != "":
			f.code = v.Str
		case ok && f.status == 0 && n >= 400 && n < 600:
			f.status = int(n)
		}
	case "type":
		if f.code == "" {
			f.code = v.Str
		}
	}
}

// addMessage appends words to the message, unless it already contains them or is long
// enough: an error may be a list with millions of entries.
func (f *failure) addMessage(words string) {
	words = strings.TrimSpace(words)
	switch {
	case words == "" || len(f.message) > 4*maxMessage || strings.Contains(f.message, words):
	case f.message == "":
		f.message = words
	default:
		f.message += ": " + words
	}
}

// parseFailure reads the body of an error response: JSON, text, or a web page, of which it
// reads only the title.
func parseFailure(body []byte) failure {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, byteOrderMark))
	if len(body) == 0 {
		return failure{}
	}
	if bytes.IndexByte([]byte(`{["`), body[0]) >= 0 {
		var f failure // read leniently, because a long body was truncated
		f.read(gjson.ParseBytes(body), 0)
		if f.message != "" || json.Valid(body) {
			return f
		}
	}
	if body[0] != '<' {
		return failure{message: string(body)}
	}
	f := failure{page: true}
	if title := pageTitle.FindSubmatch(body); title != nil {
		f.message = strings.TrimSpace(html.UnescapeString(string(title[1])))
	}
	return f
}

var pageTitle = regexp.MustCompile(`(?i)<title[^>]*>([^<]*)`)

// displayable makes text from an endpoint fit to show: redacted, sanitised, short and on
// one line.
func (c *Client) displayable(text string) string {
	text = c.secrets.Redact(oneLine(c.secrets.Redact(text[:min(len(text), maxErrorBody)])))
	if utf8.RuneCountInString(text) > maxMessage {
		text = string([]rune(text)[:maxMessage]) + "…"
	}
	return text
}

// newError returns an error of this kind with a displayable message; cause may be nil.
func (c *Client) newError(kind llm.Kind, cause error, format string, args ...any) *llm.RequestError {
	return &llm.RequestError{Kind: kind, Message: c.displayable(fmt.Sprintf(format, args...)), Err: cause}
}

// statusError returns the error for a response with an HTTP status of 300 or more.
func (c *Client) statusError(status int, body []byte, header http.Header) *llm.RequestError {
	f := parseFailure(body)
	err := c.failureError(status, f, rateLimits(header, c.opts.Now()))
	err.After = retryAfter(header, c.opts.Now())
	if err.After > 0 {
		err.Message = appendFact(err.Message, "retry after "+formatSeconds(err.After))
	}
	aboutModel := containsAny(strings.ToLower(f.code+" "+f.message), modelWords)
	if status == http.StatusMethodNotAllowed || status == http.StatusNotFound && !aboutModel {
		err.Message = appendFact(err.Message, c.wrongVersion())
	}
	return err
}

// failureError returns the error for a failure. status is 0 if the HTTP status of the
// response indicated success; limits come from the headers and may be nil.
func (c *Client) failureError(status int, f failure, limits *llm.RateLimits) *llm.RequestError {
	message := c.failureMessage(status, f)
	if status == 0 {
		status = f.status
	}
	kind, matched := Classify(status, f.code, f.message)
	err := &llm.RequestError{Kind: kind, Status: status, Matched: matched, Limits: limits, Message: message}
	switch {
	case kind == llm.KindOverflow:
		err.Limit = contextLimit(f.message)
	case kind == llm.KindAuth && c.opts.Key == "":
		err.Message = appendFact(message, "no API key is set for "+c.opts.Name)
	case kind == llm.KindQuota && limits != nil && limits.TokensLeft == 0 && limits.TokensReset > 0:
		err.Message = appendFact(message, "the token quota resets in "+formatSeconds(limits.TokensReset))
	case kind == llm.KindQuota && limits != nil && limits.RequestsLeft == 0 && limits.RequestsReset > 0:
		err.Message = appendFact(message, "the request quota resets in "+formatSeconds(limits.RequestsReset))
	}
	return err
}

// failureMessage returns the endpoint's message if it sent one, otherwise a description of
// its response.
func (c *Client) failureMessage(status int, f failure) string {
	answered := c.host + " answered"
	if status != 0 {
		answered += strings.TrimRight(fmt.Sprintf(" %d %s", status, http.StatusText(status)), " ") // status 529 has no text
	}
	message := c.displayable(f.message)
	switch {
	case f.page:
		answered += " with a web page"
		if message != "" && !strings.Contains(answered, message) {
			answered += ", " + strconv.Quote(message)
		}
		return answered
	case message != "":
		return message
	case c.displayable(f.code) != "":
		return answered + ": " + c.displayable(f.code)
	case status == 0:
		return c.host + " ended the answer with an unspecified error"
	}
	return answered
}

// appendFact appends a clause to a message, unless the clause is empty.
func appendFact(message, fact string) string {
	if fact == "" {
		return message
	}
	return strings.TrimSuffix(message, ".") + "; " + fact
}

// formatSeconds formats d in whole seconds, rounded up so that a user who waits that long
// has waited long enough.
func formatSeconds(d time.Duration) string {
	return (d + time.Second - 1).Truncate(time.Second).String()
}

// wrongVersion returns the probable reason why an endpoint does not know the paths of the
// API: the base URL has no version such as /v1, or has it twice. It returns "" if the base
// URL has one version.
func (c *Client) wrongVersion() string {
	change := ""
	if c.opts.Setting != "" {
		change = ": change " + c.opts.Setting
	}
	version := ""
	for part := range strings.SplitSeq(c.base.Path, "/") {
		switch {
		case len(part) < 2 || part[0] != 'v' || part[1] < '0' || part[1] > '9':
		case part == version:
			return "the base URL " + c.base.String() + " has /" + version + " twice" + change
		default:
			version = part
		}
	}
	if version != "" {
		return ""
	}
	return "the base URL " + c.base.String() + " has no version such as /v1" + change
}
