package dotenv

import "strings"

// Environ looks up a variable of the real environment. Nil is an empty one.
type Environ func(name string) (value string, ok bool)

func (e Environ) lookup(name string) (string, bool) {
	if e == nil {
		return "", false
	}
	return e(name)
}

// variable is one ${name} or ${name:-fallback} in a value.
type variable struct {
	name, fallback string
	start, end     int // its range in the value
}

// nextVariable finds the first variable at or after from. The name ends at
// the first ":" or "}", the fallback at the first "}"; "${a:b}" is text.
func nextVariable(value string, from int) (variable, bool) {
	for {
		n := strings.Index(value[from:], "${")
		if n < 0 {
			return variable{}, false
		}
		v := variable{start: from + n}
		name := v.start + len("${")
		n = strings.IndexAny(value[name:], ":}")
		if n < 0 {
			return variable{}, false
		}
		v.name, v.end = value[name:name+n], name+n+1
		if value[name+n] == '}' {
			return v, true
		}
		if fallback, ok := strings.CutPrefix(value[v.end:], "-"); ok {
			n := strings.IndexByte(fallback, '}')
			if n < 0 {
				return variable{}, false
			}
			v.fallback = fallback[:n]
			v.end += len("-") + n + len("}")
			return v, true
		}
		// Every "${" before this ":" breaks off at it too.
		from = v.end
	}
}

// interpolates reports whether reading value replaces a part of it.
func interpolates(value string) bool {
	_, ok := nextVariable(value, 0)
	return ok
}

// references lists the names of the variables in value.
func references(value string) []string {
	var names []string
	for v, ok := nextVariable(value, 0); ok; v, ok = nextVariable(value, v.end) {
		names = append(names, v.name)
	}
	return names
}

// The limits of what variables grow to, in bytes: forty lines that each double
// the one above would fill any memory. A value is cut off at maxResolved, the
// longest that Linux hands to a program; behind maxScope of such values in one
// file, variables stay as they are written.
const (
	maxResolved = 128 << 10
	maxScope    = 64 << 20
)

// scope is what the keys read so far resolve to; a nil value is a bare key.
type scope struct {
	values map[string]*string
	size   int // of the values that had variables
}

func newScope() *scope { return &scope{values: map[string]*string{}} }

// resolve replaces the variables in value. The real environment comes first,
// then the keys above. A bare key above counts as set, and empty.
func (s *scope) resolve(value string, env Environ) string {
	if s.size > maxScope || !interpolates(value) {
		return value
	}
	var out strings.Builder
	at := 0
	for v, ok := nextVariable(value, 0); ok && out.Len() < maxResolved; v, ok = nextVariable(value, at) {
		out.WriteString(value[at:v.start])
		at = v.end
		if real, ok := env.lookup(v.name); ok {
			out.WriteString(real)
		} else if above, ok := s.values[v.name]; !ok {
			out.WriteString(v.fallback)
		} else if above != nil {
			out.WriteString(*above)
		}
	}
	out.WriteString(value[at:])
	return out.String()[:min(out.Len(), maxResolved)]
}

// read adds a binding to the scope.
func (s *scope) read(b Binding, env Environ) {
	switch {
	case b.Key == "":
	case !b.HasValue:
		s.values[b.Key] = nil
	default:
		value := s.resolve(b.Value, env)
		s.values[b.Key] = &value
		if interpolates(b.Value) {
			s.size += len(value)
		}
	}
}
