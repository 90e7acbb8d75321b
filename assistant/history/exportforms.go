package history

import (
	_ "embed" // the style of the page
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// part is what a block of an exported pair is.
type part int

const (
	partHeading part = iota // detail is the id
	partUser
	partAttached
	partThinking
	partAnswer // begins the answer; no text
	partText
	partCall // detail is input and output; failed
	partError
	partEnd // no text
)

// block is a part of a pair that is read by people, without hidden characters.
type block struct {
	part         part
	text, detail string
	failed       bool
}

// inBlocks writes a pair block by block.
func inBlocks(write func(block) string) func(*assistant.Pair) (string, error) {
	return func(p *assistant.Pair) (string, error) {
		var out strings.Builder
		for _, b := range blocks(p) {
			out.WriteString(write(b))
		}
		return out.String(), nil
	}
}

// blocks divides a pair into its parts, in the order in which they are read. Calls that the
// answer has no place for come last; silent ones are left out.
func blocks(p *assistant.Pair) []block {
	about := []string{p.CreatedAt.Format("2006-01-02 15:04"), p.Model, p.Topic, strings.Repeat("★", p.Star)}
	heading := strings.Join(strings.FieldsFunc(strings.Join(about, "\x00"), func(r rune) bool { return r == 0 }), " · ")
	all := []block{{part: partHeading, text: oneLine(heading), detail: p.ID}, {part: partUser, text: clean(p.UserText)}}
	for _, a := range p.Attachments {
		all = append(all, block{part: partAttached, text: oneLine(a.Name)})
	}
	if thoughts := clean(p.Reasoning); thoughts != "" {
		all = append(all, block{part: partThinking, text: thoughts})
	}
	all = append(all, block{part: partAnswer})
	var calls []*assistant.ToolCall
	for i := range p.ToolCalls {
		if !p.ToolCalls[i].Silent {
			calls = append(calls, &p.ToolCalls[i])
		}
	}
	shown := make([]bool, len(calls))
	show := func(i int) {
		if !shown[i] {
			all = append(all, callBlock(calls[i]))
		}
		shown[i] = true
	}
	for _, piece := range assistant.Pieces(p.AssistantText, len(calls)) {
		if piece.Call < 0 {
			all = append(all, block{part: partText, text: clean(piece.Text)})
		} else {
			show(piece.Call)
		}
	}
	for i := range calls {
		show(i)
	}
	if p.State == assistant.PairError {
		all = append(all, block{part: partError, text: oneLine(strings.TrimSpace(fmt.Sprintf("[error: %s] %s", p.ErrorCode, p.ErrorMessage)))})
	}
	return append(all, block{part: partEnd})
}

// callBlock is one line about a call, with its input and output.
func callBlock(c *assistant.ToolCall) block {
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
	return block{partCall, oneLine(strings.TrimSpace(sign + " " + c.Name + "  " + message)), safetext.Clean(detail), failed}
}

// oneLine makes a text fit a line of its own.
func oneLine(text string) string { return safetext.Line(text, 300) }

func clean(text string) string { return strings.TrimSpace(safetext.Clean(text)) }

func textBlock(b block) string {
	format := map[part]string{
		partHeading: "\n" + strings.Repeat("─", 72) + "\n%s\n", partUser: "\nYou:\n%s\n", partAttached: "[attached: %s]\n",
		partThinking: "\nThinking:\n%s\n", partAnswer: "\nAssistant:\n%s", partEnd: "%s",
	}[b.part]
	if format == "" {
		format = "%s\n"
	}
	return fmt.Sprintf(format, b.text)
}

func markdownBlock(b block) string {
	switch b.part {
	case partHeading:
		return "\n---\n\n## " + b.text + "\n"
	case partUser:
		return "\n**You:**\n\n" + quoted(b.text) + "\n"
	case partAttached:
		return "\nAttached: " + fenced(b.text) + "\n"
	case partThinking:
		return "\n**Thinking:**\n\n" + quoted(b.text) + "\n"
	case partAnswer:
		return "\n**Assistant:**\n"
	case partCall:
		return "\n" + fenced(b.text+"\n"+b.detail) + "\n"
	case partError:
		return "\n" + fenced(b.text) + "\n"
	case partEnd:
		return ""
	default:
		return "\n" + b.text + "\n"
	}
}

// quoted makes a Markdown quotation.
func quoted(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }

// fenced puts a text into a code block whose fence it cannot close.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}

//go:embed page.css
var pageStyle string

// beginHTML begins a page that runs and loads nothing. The policy asks the
// browser to refuse what a mistake here would let through.
func beginHTML(total int) string {
	return fmt.Sprintf(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>winnow history</title>
<style>
%s</style>
</head>
<body>
<h1>winnow history <small>%s</small></h1>
`, pageStyle, assistant.Counted(total, "pair"))
}

func htmlBlock(b block) string {
	text, detail := html.EscapeString(b.text), html.EscapeString(b.detail)
	switch b.part {
	case partHeading:
		return fmt.Sprintf("<article id=\"%s\">\n<h2>%s</h2>\n", detail, text)
	case partUser:
		return "<section class=\"user\" dir=\"auto\">" + text + "</section>\n"
	case partAttached:
		return "<p class=\"note\">attached: <bdi>" + text + "</bdi></p>\n"
	case partThinking:
		return "<details><summary>thinking</summary><div class=\"text\" dir=\"auto\">" + text + "</div></details>\n"
	case partText:
		return htmlText(b.text)
	case partCall:
		class := "call"
		if b.failed {
			class = "call failed"
		}
		return fmt.Sprintf("<details class=\"%s\"><summary>%s</summary><pre>%s</pre></details>\n", class, text, detail)
	case partError:
		return "<p class=\"error\">" + text + "</p>\n"
	case partEnd:
		return "</article>\n"
	default:
		return ""
	}
}

// htmlText writes a text with its fenced code blocks set apart.
func htmlText(text string) string {
	var out strings.Builder
	var lines []string
	fence := "" // of the code block that is open
	flush := func() {
		body := html.EscapeString(strings.Join(lines, "\n"))
		switch {
		case strings.TrimSpace(body) == "":
		case fence != "":
			out.WriteString("<pre>" + body + "</pre>\n")
		default:
			out.WriteString("<div class=\"text\" dir=\"auto\">" + strings.Trim(body, "\n") + "</div>\n")
		}
		lines = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		mark := fenceOf(line)
		switch {
		case fence == "" && mark != "":
			flush()
			fence = mark
		case fence != "" && strings.HasPrefix(mark, fence) && strings.Trim(strings.TrimSpace(line), fence[:1]) == "":
			flush()
			fence = ""
		default:
			lines = append(lines, line)
		}
	}
	flush()
	return out.String()
}

// fenceOf is the run of backticks or tildes that begins a line, "" when it is no fence.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// The name and version of the JSON form.
const (
	exportName    = "winnow history"
	exportVersion = 1
)

// exportMeta heads the JSON form, {"meta":{…},"pairs":[…]} with a pair a line. It
// holds no clock: the same pairs give the same bytes.
type exportMeta struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Pairs   int    `json:"pairs"`
}

func beginJSON(total int) string {
	meta, _ := json.Marshal(exportMeta{exportName, exportVersion, total}) // always encodes
	return fmt.Sprintf(`{"meta":%s,"pairs":[`, meta)
}

func pairAsJSON(p *assistant.Pair) (string, error) {
	form, err := newPairJSON(p, false)
	if err != nil {
		return "", err
	}
	raw, err := assistant.PlainJSON(form)
	return "\n" + escapeHidden(string(raw)), err
}

// escapeHidden writes as \u escapes, in strings of encoded JSON, what a terminal
// would obey or a reader would not see. The JSON means the same.
func escapeHidden(encoded string) string {
	if strings.IndexFunc(encoded, hidden) < 0 {
		return encoded
	}
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

// hidden reports whether a rune is a control, a formatting character, one that is
// drawn as nothing, or one of the variation selectors in which text can be hidden.
func hidden(r rune) bool {
	const brailleBlank = 0x2800
	return r > unicode.MaxASCII && !unicode.IsPrint(r) || r == 0x7f || r == brailleBlank ||
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
