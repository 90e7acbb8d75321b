package openai

import (
	"bytes"
	"html"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

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
func readFailure(c *cursor) *failure {
	f := &failure{}
	f.read(c)
	if *f == (failure{}) {
		return nil
	}
	return f
}

func (f *failure) read(c *cursor) {
	switch c.peek() {
	case '"':
		f.say(c.str())
	case '[':
		c.array(func() { f.read(c) })
	case '{':
		c.object(func(name []byte) { f.field(c, string(name)) })
	case 't': // "error": true says no more than that there is one
		c.skip()
		f.say("the endpoint reports an error")
	default:
		c.skip()
	}
}

func (f *failure) field(c *cursor, name string) {
	switch name {
	case "message", "msg", "error_message", "reason", "title":
		f.sayAny(c)
	case "detail", "details", "error", "errors", "metadata", "raw":
		f.sayAny(c)
	case "code", "status", "error_code":
		f.coded(c)
	case "type":
		if kind := c.str(); f.code == "" {
			f.code = kind
		}
	default:
		c.skip()
	}
}

// sayAny takes the words of a value of any shape.
func (f *failure) sayAny(c *cursor) {
	var inner failure
	inner.read(c)
	f.say(inner.message)
	if f.code == "" || inner.code == overflowCode {
		f.code = inner.code
	}
	if f.status == 0 {
		f.status = inner.status
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

// coded takes a code, which is a word or an HTTP status.
func (f *failure) coded(c *cursor) {
	if c.peek() == '"' {
		if text := c.str(); text != "" {
			if n, err := strconv.Atoi(text); err == nil {
				f.numbered(n)
			} else {
				f.code = text
			}
		}
		return
	}
	if n, ok := c.number(); ok {
		f.numbered(int(min(max(n, 0), 1000)))
	}
}

func (f *failure) numbered(n int) {
	if f.status == 0 && n >= 400 && n < 600 {
		f.status = n
	}
}

// parseFailure reads the body of a refusal. What is not JSON is taken as text,
// of HTML the title.
func parseFailure(body []byte) failure {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, byteOrderMark))
	if len(body) == 0 {
		return failure{}
	}
	c := cursor{b: body}
	var f failure
	if b := c.peek(); b == '{' || b == '[' || b == '"' {
		f.read(&c)
		if f.message != "" || c.whole() {
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
	return err
}

// told says what an endpoint answered: in its own words when it has some.
func (c *Client) told(status int, f failure) string {
	answered := c.host + " answered"
	if status != 0 {
		answered += " " + strings.TrimSpace(strconv.Itoa(status)+" "+http.StatusText(status))
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

// broken makes the error of an answer that cannot be used.
func broken(kind assistant.Kind, message, advice string, cause error) *assistant.RequestError {
	return &assistant.RequestError{Kind: kind, Message: safetext.Clean(message), Advice: advice, Err: cause}
}

// hintVersion adds what is probably wrong when an endpoint does not know our
// paths: the version is missing in the base URL. It is said, never guessed.
func (c *Client) hintVersion(err *assistant.RequestError) {
	if (err.Status == http.StatusNotFound || err.Status == http.StatusMethodNotAllowed) && !versioned(c.base.Path) {
		err.Advice = "the base URL " + c.base.String() + " has no version, should it be " + c.base.String() + "/v1?"
	}
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
