package history

import (
	"bufio"
	_ "embed" // the style of the page
	"fmt"
	"html"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

//go:embed page.css
var pageStyle string

// htmlExport writes one page. It runs nothing, loads nothing and asks the
// browser to refuse what a mistake of ours would let through.
type htmlExport struct{ w *bufio.Writer }

func (e *htmlExport) begin(total int) {
	fmt.Fprintf(e.w, `<!doctype html>
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
`, pageStyle, Pairs(total))
}

func (e *htmlExport) end() { fmt.Fprint(e.w, "</body>\n</html>\n") }

func (e *htmlExport) pair(p *assistant.Pair) error {
	fmt.Fprintf(e.w, "<article id=\"%s\">\n<h2>%s</h2>\n", escaped(p.ID), escaped(heading(p)))
	fmt.Fprintf(e.w, "<section class=\"user\" dir=\"auto\">%s</section>\n", escaped(strings.TrimSpace(p.UserText)))
	for _, a := range p.Attachments {
		fmt.Fprintf(e.w, "<p class=\"note\">attached: <bdi>%s</bdi></p>\n", escaped(oneLine(a.Name)))
	}
	if r := strings.TrimSpace(p.Reasoning); r != "" {
		fmt.Fprintf(e.w, "<details><summary>thinking</summary><div class=\"text\" dir=\"auto\">%s</div></details>\n", escaped(r))
	}
	for _, s := range stretches(p) {
		if s.call != nil {
			class := "call"
			if s.call.Result != nil && !s.call.Result.Success {
				class = "call failed"
			}
			fmt.Fprintf(e.w, "<details class=\"%s\"><summary>%s</summary><pre>%s</pre></details>\n",
				class, escaped(callLine(s.call)), escaped(callDetail(s.call)))
			continue
		}
		e.answer(s.text)
	}
	if f := failure(p); f != "" {
		fmt.Fprintf(e.w, "<p class=\"error\">%s</p>\n", escaped(f))
	}
	_, err := e.w.WriteString("</article>\n")
	return err
}

// answer writes a text with its code blocks set apart.
func (e *htmlExport) answer(text string) {
	var block []string
	code := ""
	flush := func() {
		if body := strings.Join(block, "\n"); strings.TrimSpace(body) != "" {
			if code != "" {
				fmt.Fprintf(e.w, "<pre>%s</pre>\n", escaped(body))
			} else {
				fmt.Fprintf(e.w, "<div class=\"text\" dir=\"auto\">%s</div>\n", escaped(strings.Trim(body, "\n")))
			}
		}
		block = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		fence := fenceOf(line)
		switch {
		case code == "" && fence != "":
			flush()
			code = fence
		case code != "" && strings.HasPrefix(fence, code) && strings.Trim(strings.TrimSpace(line), code[:1]) == "":
			flush()
			code = ""
		default:
			block = append(block, line)
		}
	}
	flush()
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

// escaped makes any text safe in an element or a quoted attribute.
func escaped(text string) string { return html.EscapeString(safetext.Clean(text)) }
