package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"winnow/assistant"
)

// The name and version of the JSON form.
const (
	exportName    = "winnow history"
	exportVersion = 1
)

// exportMeta heads the JSON form. It holds no clock and nothing of this
// machine: the same pairs give the same bytes.
type exportMeta struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Pairs   int    `json:"pairs"`
}

// jsonExport writes {"meta":{…},"pairs":[…]}, a pair a line.
type jsonExport struct {
	w     *bufio.Writer
	wrote bool
}

func (e *jsonExport) begin(total int) {
	meta, _ := json.Marshal(exportMeta{exportName, exportVersion, total})
	fmt.Fprintf(e.w, `{"meta":%s,"pairs":[`, meta)
}

func (e *jsonExport) end() { fmt.Fprint(e.w, "\n]}\n") }

func (e *jsonExport) pair(p *assistant.Pair) error {
	form, err := newPairJSON(p, false)
	if err != nil {
		return err
	}
	raw, err := assistant.PlainJSON(form)
	if err != nil {
		return err
	}
	if e.wrote {
		fmt.Fprint(e.w, ",")
	}
	e.wrote = true
	fmt.Fprintf(e.w, "\n%s", escapeHidden(raw))
	return nil
}

// escapeHidden writes as \u escapes, in strings of encoded JSON, what a terminal
// would obey or a reader would not see. The JSON means the same.
func escapeHidden(encoded []byte) []byte {
	out := encoded[:0:0]
	from := 0
	for i := 0; i < len(encoded); {
		r, n := utf8.DecodeRune(encoded[i:])
		if hidden(r) {
			out = append(out, encoded[from:i]...)
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			from = i + n
		}
		i += n
	}
	if from == 0 {
		return encoded
	}
	return append(out, encoded[from:]...)
}

// hidden tells whether a rune is a control, a formatting character, one that is
// drawn as nothing, or one of the variation selectors in which text can be hidden.
func hidden(r rune) bool {
	const brailleBlank = 0x2800
	return r > unicode.MaxASCII && !unicode.IsPrint(r) || r == 0x7f || r == brailleBlank ||
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
