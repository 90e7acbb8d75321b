package dotenv

import (
	"regexp"
	"strings"
)

// Environ looks up a variable in the real environment. A nil Environ is an empty environment.
type Environ func(name string) (value string, ok bool)

// variable is python-dotenv's pattern for ${name} and ${name:-fallback}.
var variable = regexp.MustCompile(`\$\{([^}:]*)(?::-([^}]*))?\}`)

// interpolates reports whether value contains a part that would be replaced when it is read.
func interpolates(value string) bool { return variable.MatchString(value) }

// The limits of resolved values in bytes. Without them, forty lines that each double the previous value would exhaust
// the memory. A value is cut off at maxResolved, the longest that Linux passes to a program. Once the resolved values of
// a file exceed maxScope in total, further variables are not resolved.
const (
	maxResolved = 128 << 10
	maxScope    = 64 << 20
)

// scope holds the resolved values of the keys read so far; nil stands for a bare key.
type scope struct {
	values map[string]*string
	size   int // the total size of the values that had variables
}

func newScope() *scope { return &scope{values: map[string]*string{}} }

// resolve replaces the variables in value, first from the real environment, then from the keys above value in the file.
// A bare key above counts as set to an empty value.
func (s *scope) resolve(value string, env Environ) string {
	m := variable.FindStringSubmatchIndex(value)
	if s.size > maxScope || m == nil {
		return value
	}
	var out strings.Builder
	for ; m != nil && out.Len() < maxResolved; m = variable.FindStringSubmatchIndex(value) {
		out.WriteString(value[:m[0]])
		out.WriteString(s.lookup(value[m[2]:m[3]], value[max(m[4], 0):max(m[5], 0)], env))
		value = value[m[1]:]
	}
	out.WriteString(value)
	return out.String()[:min(out.Len(), maxResolved)]
}

func (s *scope) lookup(name, fallback string, env Environ) string {
	if env != nil {
		if value, ok := env(name); ok {
			return value
		}
	}
	switch above, ok := s.values[name]; {
	case !ok:
		return fallback
	case above == nil:
		return ""
	default:
		return *above
	}
}

// define adds a binding to the scope.
func (s *scope) define(b binding, env Environ) {
	switch {
	case b.key == "":
	case !b.hasValue:
		s.values[b.key] = nil
	case !interpolates(b.value):
		s.values[b.key] = &b.value
	default:
		value := s.resolve(b.value, env)
		s.values[b.key] = &value
		s.size += len(value)
	}
}
