package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"winnow/assistant"
	"winnow/assistant/attachment"
	"winnow/assistant/safetext"
	"winnow/tui/markdown"
	"winnow/tui/style"
)

// section is a part of a request that can be folded.
type section struct {
	title   string        // for example "user" or "assistant → add_ignore_rule"
	text    markdown.Text // safe to show
	preview string        // start of the text in one line, at most maxPreview cells
	lower   string        // the text in lower case, for the search
	tokens  int
	open    bool
}

const (
	maxPreview = 500     // cells; wider than any screen
	previewed  = 4 << 10 // number of bytes of a text from which its preview is made
)

// request is the body of a chat completions request, or the JSON of an llm.Request, which
// is shown for a model without a wire format. Their fields differ in case, which
// encoding/json ignores.
type request struct {
	Messages []struct {
		Role       string
		Content    json.RawMessage // a string or a list of parts
		Pictures   []attachment.File
		Calls      []function
		ToolCalls  []tool `json:"tool_calls"`
		CallID     string
		ToolCallID string `json:"tool_call_id"`
	}
	Tools []tool
}

// function is a tool or a call to one.
type function struct {
	Name        string
	Description string
	Arguments   string
	Parameters  json.RawMessage
}

type tool struct {
	function
	Function *function
}

func (t tool) get() function {
	if t.Function != nil {
		return *t.Function
	}
	return t.function
}

// parse divides a request into sections; estimate returns the number of tokens of a text. ok
// is false if the body cannot be parsed or has no messages.
func parse(body json.RawMessage, estimate func(string) int) (sections []*section, ok bool) {
	var r request
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &r) != nil || json.Unmarshal(body, &fields) != nil || len(r.Messages) == 0 {
		return nil, false
	}
	add := func(title, text string, pictures ...picture) {
		s := &section{title: title, tokens: estimate(text)}
		for _, p := range pictures {
			text, s.tokens = strings.TrimSpace(text+"\n["+p.description+"]"), s.tokens+p.tokens
		}
		text = strings.Join(safetext.Lines(beginning(text), safetext.Visible), "\n")
		s.text.Append(text)
		s.preview = style.TruncateWords(strings.Join(strings.Fields(strings.ToValidUTF8(text[:min(len(text), previewed)], "")), " "), maxPreview, "…")
		s.lower = strings.ToLower(text)
		sections = append(sections, s)
	}
	add("parameters", parameters(fields))
	if len(r.Tools) > 0 {
		var text strings.Builder
		for _, t := range r.Tools {
			f := t.get()
			fmt.Fprintf(&text, "%s %s\n%s\n\n", f.Name, f.Parameters, f.Description)
		}
		add(assistant.Counted(len(r.Tools), "tool"), strings.TrimSpace(text.String()))
	}
	for _, m := range r.Messages {
		title := m.Role
		text, pictures := readContent(m.Content)
		for _, f := range m.Pictures {
			pictures = append(pictures, picture{"picture " + f.String(), attachment.Tokens([]attachment.File{f})})
		}
		calls := m.Calls
		for _, t := range m.ToolCalls {
			calls = append(calls, t.get())
		}
		for _, c := range calls {
			title += " → " + c.Name
			text = strings.TrimSpace(text + "\n" + c.Name + " " + c.Arguments)
		}
		if id := cmp.Or(m.CallID, m.ToolCallID); id != "" {
			title += " · answers " + id
		}
		add(title, text, pictures...)
	}
	sections[len(sections)-1].open = true
	return sections, true
}

// maxShown is how many bytes of a text are shown: more than anyone reads. maxOpen is how
// many bytes of text the open sections may contain together: as much as a frame can wrap.
const (
	maxShown = 256 << 10
	maxOpen  = 1 << 20
)

// beginning returns the part of a text that is shown, with a line that says how much is left
// out.
func beginning(text string) string {
	if len(text) <= maxShown {
		return text
	}
	end := maxShown
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s\n… %d more bytes are not shown; copy the request to see them", text[:end], len(text)-end)
}

// parameters returns a line for each field except the messages and the tools.
func parameters(fields map[string]json.RawMessage) string {
	var lines []string
	for name, value := range fields {
		if key := strings.ToLower(name); key != "messages" && key != "tools" {
			lines = append(lines, key+" "+string(value))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// picture is a part of a message that is not text.
type picture struct {
	description string
	tokens      int // 0 if unknown
}

// readContent splits the content of a message into text and pictures. Any other part counts
// as a picture, described by its type.
func readContent(raw json.RawMessage) (text string, pictures []picture) {
	if json.Unmarshal(raw, &text) == nil {
		return pretty(text), nil
	}
	var parts []struct {
		Type, Text string
		ImageURL   struct{ URL string } `json:"image_url"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return string(raw), nil
	}
	var texts []string
	for _, p := range parts {
		description, tokens, known := attachment.ReadURL(p.ImageURL.URL)
		switch {
		case known:
			pictures = append(pictures, picture{"picture " + description, tokens})
		case p.Text == "":
			pictures = append(pictures, picture{description: p.Type})
		default:
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n"), pictures
}

// pretty indents a text that is a JSON object, such as the result of a tool, and returns any
// other text unchanged.
func pretty(text string) string {
	var indented bytes.Buffer
	if !strings.HasPrefix(text, "{") || json.Indent(&indented, []byte(text), "", "  ") != nil {
		return text
	}
	return indented.String()
}

// ShownRequest is a request that NewRequestView can show.
type ShownRequest struct {
	Title string
	Body  json.RawMessage // the exact bytes, except those of pictures
	Sent  bool            // false for the request that would be sent now
}

// SentRequests returns the stored requests of a pair in the form in which they are shown.
func SentRequests(sent []assistant.SentRequest) (all []ShownRequest) {
	for i, r := range sent {
		title := fmt.Sprintf("sent at %s to %s", r.At.Local().Format(time.TimeOnly), safetext.Line(r.Model, maxModel))
		if len(sent) > 1 {
			title += fmt.Sprintf(" · request %d of %d", i+1, len(sent))
		}
		if r.Trimmed > 0 {
			title += " · " + assistant.Counted(r.Trimmed, "message") + " left out"
		}
		all = append(all, ShownRequest{title, r.Body, true})
	}
	return all
}

// maxModel is the maximum width of a model's name in a title, in cells.
const maxModel = 500
