package history

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// Format is a form of export.
type Format string

// The forms of export.
const (
	JSON     Format = "json" // lossless; Import reads it
	Markdown Format = "md"
	Text     Format = "txt"
	HTML     Format = "html" // one page that needs nothing else
)

// ExportOptions configures Export. The zero value is ready to use.
type ExportOptions struct {
	Seqs     []int64               // which pairs; nil is all uncut ones
	Progress func(done, total int) // called now and then; nil is not told
}

// exporter writes one form.
type exporter interface {
	begin(total int)
	pair(p *assistant.Pair) error
	end()
}

// Export writes pairs, in order, to w. It holds no more than a few hundred
// pairs at a time. All forms can be shown by a terminal as they are: JSON
// escapes what a terminal would obey or hide, the others leave it out.
func Export(ctx context.Context, s Store, w io.Writer, f Format, o ExportOptions) error {
	out := bufio.NewWriter(w)
	var piece bytes.Buffer // what is written of one pair
	text := bufio.NewWriter(&piece)
	flush := func() {
		_ = text.Flush()                                 // into memory: it does not fail
		_, _ = out.WriteString(s.Redact(piece.String())) // the last Flush reports a failure
		piece.Reset()
	}
	var e exporter
	switch f {
	case JSON:
		e = &jsonExport{w: text}
	case Markdown:
		e = &markdownExport{w: text}
	case Text:
		e = &textExport{w: text}
	case HTML:
		e = &htmlExport{w: text}
	default:
		return fmt.Errorf("history: unknown form of export %q; want json, md, txt or html", f)
	}
	seqs := o.Seqs
	if seqs == nil {
		refs, err := s.Refs(ctx, "", defaultCharsPerToken)
		if err != nil {
			return err
		}
		for _, r := range refs {
			seqs = append(seqs, r.Seq)
		}
	}
	e.begin(len(seqs))
	flush()
	for done := 0; done < len(seqs); {
		n := min(loadAtOnce, len(seqs)-done)
		pairs, err := s.Load(ctx, seqs[done:done+n])
		if err != nil {
			return fmt.Errorf("history: export: %w", err)
		}
		for i := range pairs {
			if err := e.pair(&pairs[i]); err != nil {
				return fmt.Errorf("history: export pair %s: %w", pairs[i].ID, err)
			}
			flush()
		}
		done += n
		if o.Progress != nil {
			o.Progress(done, len(seqs))
		}
	}
	e.end()
	flush()
	if err := out.Flush(); err != nil { // the first failed write, if any
		return fmt.Errorf("history: export: %w", err)
	}
	return nil
}

// lineRunes bounds what is shown of a text on one line.
const lineRunes = 300

// oneLine makes a text fit a line of its own.
func oneLine(text string) string { return safetext.Line(text, lineRunes) }

// heading is what is said of a pair above its texts.
func heading(p *assistant.Pair) string {
	parts := []string{p.CreatedAt.Format("2006-01-02 15:04")}
	if p.Model != "" {
		parts = append(parts, p.Model)
	}
	if p.Topic != "" {
		parts = append(parts, p.Topic)
	}
	if p.Star > 0 {
		parts = append(parts, strings.Repeat("★", p.Star))
	}
	return oneLine(strings.Join(parts, " · "))
}

// failure is the line that says how a pair failed, "" when it did not.
func failure(p *assistant.Pair) string {
	if p.State != assistant.PairError {
		return ""
	}
	return oneLine(strings.TrimSpace(fmt.Sprintf("[error: %s] %s", p.ErrorCode, p.ErrorMessage)))
}

// stretch is a piece of an answer: text, or a call.
type stretch struct {
	text string
	call *assistant.ToolCall
}

// stretches is the answer in the order in which it was seen. Calls that the
// text has no place for come last; silent ones are not shown.
func stretches(p *assistant.Pair) []stretch {
	var calls []*assistant.ToolCall
	for i := range p.ToolCalls {
		if !p.ToolCalls[i].Silent {
			calls = append(calls, &p.ToolCalls[i])
		}
	}
	shown := make([]bool, len(calls))
	var out []stretch
	for _, piece := range assistant.Pieces(p.AssistantText, len(calls)) {
		if piece.Call < 0 {
			out = append(out, stretch{text: strings.TrimSpace(safetext.Clean(piece.Text))})
		} else if !shown[piece.Call] {
			shown[piece.Call] = true
			out = append(out, stretch{call: calls[piece.Call]})
		}
	}
	for i, c := range calls {
		if !shown[i] {
			out = append(out, stretch{call: c})
		}
	}
	return out
}

// callLine is one line about a call; callDetail its input and output.
func callLine(c *assistant.ToolCall) string {
	sign, message := "·", "did not run"
	if c.Result != nil {
		sign, message = "✗", c.Result.Message
		if c.Result.Success {
			sign = "✓"
		}
	}
	return oneLine(strings.TrimSpace(sign + " " + c.Name + "  " + message))
}

func callDetail(c *assistant.ToolCall) string {
	detail := "input: " + string(c.Arguments)
	if c.Result != nil {
		if raw, err := assistant.PlainJSON(c.Result); err == nil {
			detail += fmt.Sprintf("\noutput: %s", raw)
		}
	}
	return safetext.Clean(detail)
}

// textExport writes plain text.
type textExport struct{ w *bufio.Writer }

func (e *textExport) begin(total int) { fmt.Fprintf(e.w, "winnow history, %s\n", Pairs(total)) }
func (e *textExport) end()            {}

func (e *textExport) pair(p *assistant.Pair) error {
	fmt.Fprintf(e.w, "\n%s\n%s\n\nYou:\n%s\n", strings.Repeat("─", 72), heading(p), strings.TrimSpace(safetext.Clean(p.UserText)))
	for _, a := range p.Attachments {
		fmt.Fprintf(e.w, "[attached: %s]\n", oneLine(a.Name))
	}
	if r := strings.TrimSpace(safetext.Clean(p.Reasoning)); r != "" {
		fmt.Fprintf(e.w, "\nThinking:\n%s\n", r)
	}
	fmt.Fprint(e.w, "\nAssistant:\n")
	for _, s := range stretches(p) {
		if s.call != nil {
			fmt.Fprintf(e.w, "%s\n", callLine(s.call))
			continue
		}
		fmt.Fprintf(e.w, "%s\n", s.text)
	}
	if f := failure(p); f != "" {
		fmt.Fprintln(e.w, f)
	}
	return nil
}

// markdownExport writes Markdown.
type markdownExport struct{ w *bufio.Writer }

func (e *markdownExport) begin(total int) {
	fmt.Fprintf(e.w, "# winnow history, %s\n", Pairs(total))
}
func (e *markdownExport) end() {}

func (e *markdownExport) pair(p *assistant.Pair) error {
	fmt.Fprintf(e.w, "\n---\n\n## %s\n\n**You:**\n\n%s\n", heading(p), quoted(safetext.Clean(p.UserText)))
	for _, a := range p.Attachments {
		fmt.Fprintf(e.w, "\nAttached: %s\n", fenced(oneLine(a.Name)))
	}
	if r := strings.TrimSpace(safetext.Clean(p.Reasoning)); r != "" {
		fmt.Fprintf(e.w, "\n**Thinking:**\n\n%s\n", quoted(r))
	}
	fmt.Fprint(e.w, "\n**Assistant:**\n")
	for _, s := range stretches(p) {
		if s.call != nil {
			fmt.Fprintf(e.w, "\n%s\n", fenced(callLine(s.call)+"\n"+callDetail(s.call)))
			continue
		}
		fmt.Fprintf(e.w, "\n%s\n", s.text)
	}
	if f := failure(p); f != "" {
		fmt.Fprintf(e.w, "\n%s\n", fenced(f))
	}
	return nil
}

// quoted makes a Markdown quotation.
func quoted(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n> ")
}

// fenced puts a text into a code block whose fence it cannot close.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}
