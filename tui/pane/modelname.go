package pane

import "strings"

// builtIn begins the id of the built-in model, whose name alone would say nothing.
const builtIn = "offline/"

// ModelName is a model as a line of the screen shows it: its id without the endpoint.
func ModelName(id string) string {
	if _, name, ok := strings.Cut(id, "/"); ok && name != "" && !strings.HasPrefix(id, builtIn) {
		return name
	}
	return id
}
