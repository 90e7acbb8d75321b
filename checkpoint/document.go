package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// document is a JSON document in the two forms that the package works on. It
// is never changed, so versions of a document share the parts that are equal.
// The zero value stands for no document.
type document struct {
	tree any    // map[string]any, []any, string, json.Number, bool or nil
	text string // canonical form: see doc.go
}

// Equal reports whether a and b are JSON documents with the same canonical form.
func Equal(a, b json.RawMessage) bool {
	x, err := parse(a)
	if err != nil {
		return false
	}
	y, err := parse(b)
	return err == nil && x.text == y.text
}

// parse reads one whole document.
func parse(text []byte) (document, error) {
	tree, err := decode(text)
	if err != nil {
		return document{}, err
	}
	return document{tree, encode(tree)}, nil
}

// raw returns the canonical form as a slice that the caller may change.
func (d document) raw() json.RawMessage { return json.RawMessage(d.text) }

// sum identifies a state in a record: 64 bits of SHA-256 of its canonical form.
func (d document) sum() string {
	const size = 8
	hash := sha256.Sum256([]byte(d.text))
	return hex.EncodeToString(hash[:size])
}

func decode(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("checkpoint: read document: text is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, fmt.Errorf("checkpoint: read document: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("checkpoint: read document: more text after the value")
	}
	return tree, nil
}

// lineSeparators undoes the two escapes that encoding/json always writes and
// that journals of earlier versions do not have. An escaped backslash is
// matched first, so that the text u2028 after it is not replaced.
var lineSeparators = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029")

// encode returns the canonical form of a tree that decode returned. Such a tree
// can always be encoded.
func encode(tree any) string {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(tree)
	text := strings.TrimSuffix(out.String(), "\n")
	if strings.Contains(text, `\u202`) {
		text = lineSeparators.Replace(text)
	}
	return text
}

// equal compares two trees.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	default:
		return a == b
	}
}
