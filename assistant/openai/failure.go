package openai

import (
	"bytes"
	"encoding/json"
	"html"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// maxErrorBody is how much of the body of a refusal is read.
const maxErrorBody = 64 << 10

// maxWords is how many runes of the endpoint's own words are kept: a sentence
// or two, not a stack trace.
const maxWords = 600

// failure is what an endpoint said about an error, raw.
type failure struct {
	code    string // the code when it is a word, else the type
	status  int    // the code when it is an HTTP status
	message string
	page    bool // it was a web page, and message is its title
}

// readFailure reads an error in any of the forms endpoints give it: text, an
// object with message, code and type, a list of such. null and {} are none.
func readFailure(v gjson.Result) *failure {
	f := &failure{}
	f.read(v, 0)
	if *f == (failure{}) {
		return nil
	}
	return f
}

// maxNesting is how deep an error is looked into.
const maxNesting = 16

func (f *failure) read(v gjson.Result, depth int) {
	switch {
	case depth > maxNesting:
	case v.Type == gjson.String:
		f.say(v.Str)
	case v.Type == gjson.True: // says no more than that there is an error
		f.say("the endpoint reports an error")
	case v.IsArray():
		for _, inner := range v.Array() {
			f.read(inner, depth+1)
		}
	case v.IsObject():
		v.ForEach(func(name, inner gjson.Result) bool {
			f.field(name.Str, inner, depth)
			return true
		})
	}
}

func (f *failure) field(name string, v gjson.Result, depth int) {
	switch name {
	case "message", "msg", "error_message", "reason", "title", "detail", "details", "error", "errors", "metadata", "raw":
		var inner failure
		inner.read(v, depth+1)
		f.say(inner.message)
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

// say keeps the first words, and adds what later ones tell beyond them.
func (f *failure) say(words string) {
	words = strings.TrimSpace(words)
	switch {
	case words == "" || len(f.message) > maxErrorBody || strings.Contains(f.message, words):
	case f.message == "":
		f.message = words
	default:
		f.message += ": " + words
	}
}

// parseFailure reads the body of a refusal. What is not JSON is taken as text,
// of HTML the title.
func parseFailure(body []byte) failure {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, byteOrderMark))
	if len(body) == 0 {
		return failure{}
	}
	if strings.IndexByte(`{["`, body[0]) >= 0 {
		var f failure // read leniently: a long body was cut off
		f.read(gjson.ParseBytes(body), 0)
		if f.message != "" || json.Valid(body) {
			return f
		}
	}
	if body[0] == '<' {
		return failure{message: htmlTitle(body), page: true}
	}
	return failure{message: string(body)}
}

// htmlTitle is what a page calls itself; "" when it has no name.
func htmlTitle(page []byte) string {
	lower := bytes.ToLower(page)
	at := bytes.Index(lower, []byte("<title"))
	if at < 0 {
		return ""
	}
	_, rest, found := bytes.Cut(page[at:], []byte(">"))
	if !found {
		return ""
	}
	title, _, _ := bytes.Cut(rest, []byte("<"))
	return strings.TrimSpace(html.UnescapeString(string(title)))
}

// words makes text of an endpoint fit to show: redacted, safe, one line, short.
func (c *Client) words(text string) string {
	if len(text) > maxErrorBody {
		text = text[:maxErrorBody]
	}
	text = c.secrets.Redact(word(c.secrets.Redact(text)))
	if utf8.RuneCountInString(text) > maxWords {
		text = string([]rune(text)[:maxWords]) + "…"
	}
	return text
}

// refusal makes the error of an answer with an HTTP status of 400 and more.
func (c *Client) refusal(status int, body []byte, header http.Header) *assistant.RequestError {
	err := c.failed(status, parseFailure(body), rateLimits(header, c.now()))
	if err.After, _ = retryAfter(header, c.now()); err.After > 0 {
		err.Advice = "try again in " + span(err.After)
	}
	return err
}

// failed makes the error of what an endpoint said. status 0 means that it came
// in the middle of an answer. limits are what the header said; nil is nothing.
func (c *Client) failed(status int, f failure, limits *assistant.RateLimits) *assistant.RequestError {
	said := status
	if status == 0 {
		status = f.status
	}
	kind, matched := Classify(status, f.code, f.message)
	err := &assistant.RequestError{Kind: kind, Status: status, Message: c.told(said, f), Matched: matched, Limits: limits}
	err.Advice = c.advice(err, f)
	if kind == assistant.KindOverflow {
		err.Limit = contextLimit(f.message)
	}
	return err
}

// told says what an endpoint answered: in its own words when it has some.
func (c *Client) told(status int, f failure) string {
	answered := c.host + " answered"
	if status != 0 {
		answered += " " + statusText(status)
	}
	switch {
	case f.page:
		answered += " with a web page"
		if title := c.words(f.message); title != "" && !strings.Contains(answered, title) {
			answered += ", " + strconv.Quote(title)
		}
		return answered
	case c.words(f.message) != "":
		return c.words(f.message)
	case c.words(f.code) != "":
		return answered + ": " + c.words(f.code)
	case status == 0:
		return c.host + " broke the answer off with an error and does not say which"
	}
	return answered
}

// statusText is a status with its name; some, such as 529, have none.
func statusText(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// broken makes the error of an answer that cannot be used.
func broken(kind assistant.Kind, message, advice string, cause error) *assistant.RequestError {
	return &assistant.RequestError{Kind: kind, Message: safetext.Clean(message), Advice: advice, Err: cause}
}

// versionHint is what is probably wrong when an endpoint does not know our
// paths: the version is missing in the base URL. It is said, never guessed.
func (c *Client) versionHint() string {
	if versioned(c.base.Path) {
		return ""
	}
	return "the base URL " + c.base.String() + " has no version, should it be " + c.base.String() + "/v1?"
}

// versioned reports whether a part of path is a version, such as v1 or v1beta.
func versioned(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if len(part) > 1 && part[0] == 'v' && part[1] >= '0' && part[1] <= '9' {
			return true
		}
	}
	return false
}
