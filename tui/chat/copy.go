package chat

import (
	"strings"

	"winnow/assistant/markup"
	"winnow/tui/markdown"
)

// UserText returns the first line of the user's message in a pair; "" if the pair is not
// loaded.
func (v *View) UserText(seq int64) string {
	if it := v.src.loaded(seq); it != nil {
		return firstLine(string(it.pair.UserText))
	}
	return ""
}

// Answer returns the focused pair's answer as the model wrote it, without markers; for a
// running pair, what has arrived so far. It returns false if no loaded pair has the focus.
func (v *View) Answer() (string, bool) {
	it := v.focused()
	if it == nil || !it.loaded {
		return "", false
	}
	var texts []string
	for _, p := range it.answerParts() {
		if t, ok := p.(*textPart); ok {
			texts = append(texts, strings.TrimSpace(t.source()))
		}
	}
	return strings.Join(texts, "\n\n"), true
}

// Markdown returns the focused pair as Markdown: the message, the text of the answer and the
// tool calls; for a running pair, what has arrived so far. It returns false if no loaded pair
// has the focus.
func (v *View) Markdown() (string, bool) {
	it := v.focused()
	if it == nil || !it.loaded {
		return "", false
	}
	texts := []string{string("**You:** " + it.pair.UserText), "**" + oneLine(it.pair.Model) + ":**"}
	for _, p := range it.answerParts() {
		switch p := p.(type) {
		case *toolCard:
			texts = append(texts, "> `"+p.call.Name+" "+string(p.call.Arguments)+"`: "+firstLine(p.message()))
		case *textPart:
			texts = append(texts, strings.TrimSpace(p.source()))
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n\n")) + "\n", true
}

// answerParts returns the texts and tool cards of an answer, in order.
func (it *item) answerParts() (all []part) {
	if it.running { // the stored pair does not contain these parts yet
		for _, p := range it.parts {
			switch p.(type) {
			case *textPart, *toolCard:
				all = append(all, p)
			}
		}
		return all
	}
	cards := toolCards(it.pair)
	for _, piece := range markup.Pieces(it.pair.AssistantText, len(cards)) {
		if piece.Call >= 0 {
			all = append(all, cards[piece.Call])
		} else {
			all = append(all, newTextPart(piece.Text, it.rc.md))
		}
	}
	return all
}

// longAnswer is the size in bytes above which Code does not parse an answer itself.
const longAnswer = 64 << 10

// Code returns the code blocks of the focused pair's answer. If the answer is long, Code
// returns a function instead, which returns the blocks and may be called from any goroutine.
func (v *View) Code() (blocks []markdown.Code, more func() []markdown.Code) {
	it := v.focused()
	if it == nil {
		return nil, nil
	}
	size, texts := 0, []string{}
	for _, p := range it.parts {
		if t, ok := p.(*textPart); ok {
			texts = append(texts, t.source())
			size += len(texts[len(texts)-1])
		}
	}
	if size > longAnswer {
		colours := v.rc.st.Markdown
		return nil, func() (all []markdown.Code) {
			for _, text := range texts {
				all = append(all, codeIn(text, markdown.NewStyle(colours))...)
			}
			return all
		}
	}
	for _, p := range it.parts {
		if t, ok := p.(*textPart); ok {
			blocks = append(blocks, t.code()...)
		}
	}
	return blocks, nil
}

// codeIn returns the code blocks in a text.
func codeIn(text string, md *markdown.Style) []markdown.Code {
	d := markdown.New(md)
	d.Append(text)
	d.Finish()
	return d.Code()
}
