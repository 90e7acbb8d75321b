package offline

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// window is the part of the window's context that the model needs.
type window struct {
	provider  string // the current one
	providers []string
}

// findWindow reads the last context object of the system text: JSON that begins
// a line and has "window_type"; every other field may be missing.
func findWindow(system string) (w window) {
	key := strings.LastIndex(system, `"window_type"`)
	if key < 0 {
		return w
	}
	c := gjson.Parse(system[strings.LastIndex(system[:key], "\n{")+1:])
	w.provider = c.Get("current_provider").String()
	w.providers = unique(append(texts(c.Get("providers.#.provider")), w.provider))
	return w
}

// sameProvider lists other names of a provider, tried in this order.
var sameProvider = map[string][]string{
	"gemini": {"google", "vertexai"}, "google": {"gemini", "vertexai"}, "xai": {"x-ai"}, "x-ai": {"xai"},
	"zai": {"z-ai"}, "mistral": {"mistralai"},
}

// providerNamed returns the window's name for a provider that the user named, or everything
// for all providers.
func (w *window) providerNamed(s string) (string, bool) {
	if is(s, "every-provider major-providers") {
		return everything, true
	}
	for _, want := range append([]string{s}, sameProvider[s]...) {
		i := slices.IndexFunc(w.providers, func(p string) bool { return strings.EqualFold(p, want) })
		if i >= 0 {
			return w.providers[i], true
		}
	}
	return "", false
}
