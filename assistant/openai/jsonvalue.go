package openai

// jsonValue finds where one JSON object or array ends, byte by byte. It looks
// at brackets and strings only; whether the value is valid is for its reader.
type jsonValue struct {
	text    []byte
	depth   int
	inside  bool // a string
	escaped bool // by the backslash before
}

// json cuts a body of JSON values that stand one after the other.
func (f *frames) json(b []byte, yield func(frame) bool) error {
	v := &f.value
	from := 0 // of the value in b
	for i, c := range b {
		switch {
		case v.step(c):
			if len(v.text)+i+1-from > maxEvent {
				return errEventTooLong
			}
			v.text = append(v.text, b[from:i+1]...)
			more := yield(frame{data: v.text})
			*v = jsonValue{text: release(v.text)}
			if from = i + 1; !more {
				return errStop
			}
		case v.depth == 0: // between two values
			from = i + 1
		}
	}
	if len(v.text)+len(b)-from > maxEvent {
		return errEventTooLong
	}
	v.text = append(v.text, b[from:]...)
	return nil
}

// step takes one byte and reports whether it closes the value.
func (v *jsonValue) step(c byte) bool {
	switch {
	case v.escaped:
		v.escaped = false
	case v.inside:
		v.escaped = c == '\\'
		v.inside = c != '"'
	case c == '"':
		v.inside = v.depth > 0
	case c == '{' || c == '[':
		v.depth++
	case (c == '}' || c == ']') && v.depth > 0:
		v.depth--
		return v.depth == 0
	}
	return false
}
