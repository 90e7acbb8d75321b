package pane

import "strings"

// builtIn is the prefix of the built-in model's id, whose name alone would be meaningless.
const builtIn = "offline/"

// ModelName returns the name of a model for a line of the screen: its id without the
// endpoint or, for the built-in model, the whole id.
func ModelName(id string) string {
	if _, name, ok := strings.Cut(id, "/"); ok && name != "" && !strings.HasPrefix(id, builtIn) {
		return name
	}
	return id
}
