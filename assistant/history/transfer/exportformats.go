package transfer

import (
	"embed"
	"encoding/json"
	"fmt"
	htmltemplate "html/template"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/markup"
	"winnow/assistant/safetext"
)

// templates contains the templates of the formats for people. The HTML page runs no scripts and loads nothing; its
// content security policy enforces this even if a template is wrong.
//
//go:embed export.md export.txt export.html
var templates embed.FS

// formatter writes the parts of an export: "begin" with an exportMeta, "pair" with an *assistant.Pair, and
// "end" with the sessions.
type formatter interface {
	ExecuteTemplate(w io.Writer, part string, data any) error
}

// helpers are the functions used by the templates.
var helpers = map[string]any{
	"count":  func(pairs int) string { return assistant.Counted(pairs, "message") },
	"view":   newView,
	"quote":  func(text safetext.Text) string { return "> " + strings.ReplaceAll(string(text), "\n", "\n> ") },
	"fence":  fence,
	"blocks": blocks,
}

func newFormatter(f Format) (formatter, error) {
	switch f {
	case JSON:
		return &jsonFormatter{}, nil
	case Markdown, Text:
		return template.New("").Funcs(helpers).ParseFS(templates, "export."+string(f))
	case HTML:
		return htmltemplate.New("").Funcs(helpers).ParseFS(templates, "export.html")
	}
	return nil, fmt.Errorf("unknown export format %q; use json, md, txt or html", f)
}

// view is a pair as shown in an export for people.
type view struct {
	ID, Heading    safetext.Text
	User, Thinking safetext.Text
	Attachments    []safetext.Text
	Answer         []answerPart
	Error          safetext.Text
}

// answerPart is a text or a tool call. For a tool call, Text is a line about the call and Detail its input and output.
type answerPart struct {
	Text, Detail safetext.Text
	Failed       bool
}

// newView returns the view of a pair. Tool calls to which the answer does not refer come last; silent calls are
// omitted.
func newView(p *assistant.Pair) view {
	about := []string{p.CreatedAt.Format("2006-01-02 15:04"), p.Model, p.Topic, strings.Repeat("★", p.Star)}
	about = slices.DeleteFunc(about, func(s string) bool { return s == "" })
	v := view{ID: oneLine(p.ID), Heading: oneLine(strings.Join(about, " · ")), User: p.UserText.TrimSpace(), Thinking: p.Reasoning.TrimSpace()}
	for _, a := range p.Attachments {
		name := a.Name
		if a.Hash != "" {
			name = a.String()
		}
		v.Attachments = append(v.Attachments, oneLine(name))
	}
	calls := slices.DeleteFunc(slices.Clone(p.ToolCalls), func(c assistant.ToolCall) bool { return c.Silent })
	pieces := markup.Pieces(p.AssistantText, len(calls))
	for i := range calls {
		pieces = append(pieces, markup.Piece{Call: i})
	}
	shown := make([]bool, len(calls))
	for _, piece := range pieces {
		switch {
		case piece.Call < 0:
			v.Answer = append(v.Answer, answerPart{Text: piece.Text.TrimSpace()})
		case !shown[piece.Call]:
			shown[piece.Call] = true
			v.Answer = append(v.Answer, callPart(&calls[piece.Call]))
		}
	}
	if p.State == assistant.PairError {
		v.Error = oneLine(strings.TrimSpace(fmt.Sprintf("[error: %s] %s", p.ErrorCode, p.ErrorMessage)))
	}
	return v
}

func callPart(c *assistant.ToolCall) answerPart {
	sign, message, detail := "·", "did not run", "input: "+string(c.Arguments)
	failed := c.Result != nil && !c.Result.Success
	if c.Result != nil {
		sign, message = "✓", c.Result.Message
		if raw, err := assistant.PlainJSON(c.Result); err == nil {
			detail += "\noutput: " + string(raw)
		}
	}
	if failed {
		sign = "✗"
	}
	return answerPart{oneLine(strings.TrimSpace(sign + " " + c.Name + "  " + message)), safetext.Clean(detail), failed}
}

// oneLine shortens a text to one line.
func oneLine(text string) safetext.Text { return safetext.Line(text, 300) }

// fence returns texts as a Markdown code block whose fence is longer than any fence in them.
func fence(texts ...safetext.Text) string {
	text, mark := string(safetext.Join(texts, "")), "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + "\n" + text + "\n" + mark
}

// block is prose or the code of a fenced block.
type block struct{ Prose, Code string }

var codeBlock = regexp.MustCompile("(?ms)^ *(?:`{3,}|~{3,})[^`\n]*\n(.*?)(?:^ *(?:`{3,}|~{3,}) *$|\\z)")

// blocks splits a text into prose and fenced code.
func blocks(answer safetext.Text) (all []block) {
	from, text := 0, string(answer)
	for _, at := range codeBlock.FindAllStringSubmatchIndex(text, -1) {
		all = append(all, block{Prose: strings.TrimSpace(text[from:at[0]])}, block{Code: strings.TrimRight(text[at[2]:at[3]], "\n")})
		from = at[1]
	}
	return append(all, block{Prose: strings.TrimSpace(text[from:])})
}

// The name and version of the JSON format.
const (
	exportName    = "winnow history"
	exportVersion = 2 // the version of exports with sessions; without sessions, it is 1
)

// exportMeta is the head of the JSON format. It contains no time, so that the same pairs always produce the same bytes.
type exportMeta struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Pairs   int    `json:"pairs"`
}

// jsonFormatter writes {"meta":{…},"pairs":[…],"sessions":[…]} with one pair per line. If there are no sessions, it
// omits the last field.
type jsonFormatter struct{ wrotePair bool }

func (j *jsonFormatter) ExecuteTemplate(w io.Writer, _ string, data any) error {
	text := "\n]}\n"
	switch data := data.(type) {
	case exportMeta:
		meta, _ := json.Marshal(data) // cannot fail
		text = fmt.Sprintf(`{"meta":%s,"pairs":[`, meta)
	case *assistant.Pair:
		raw, err := history.EncodePair(data)
		if err != nil {
			return fmt.Errorf("message %s: %w", data.ID, err)
		}
		text = "\n" + escapeHidden(string(raw))
		if j.wrotePair {
			text = "," + text
		}
		j.wrotePair = true
	case []exportedSession:
		if len(data) > 0 {
			raw, _ := json.Marshal(data) // cannot fail
			text = "\n],\"sessions\":" + escapeHidden(string(raw)) + "}\n"
		}
	}
	_, err := io.WriteString(w, text)
	return err
}

// escapeHidden replaces hidden characters in strings of encoded JSON by \u escapes, which do not change the values.
func escapeHidden(encoded string) string {
	var out strings.Builder
	for rest := encoded; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		if hidden(r) {
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&out, `\u%04x`, unit)
			}
		} else {
			out.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	return out.String()
}

// hidden reports whether a rune can hide text: a control or formatting character, an invisible character, or a
// variation selector.
func hidden(r rune) bool {
	const brailleBlank = 0x2800
	return r > unicode.MaxASCII && !unicode.IsPrint(r) || r == 0x7f || r == brailleBlank ||
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
