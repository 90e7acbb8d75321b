package models

import (
	"strings"

	"winnow/assistant"
)

// Info returns what the catalogue knows of a model. It finds "provider/name",
// in any case and under any of the provider's names; a bare name at the first
// provider that has it; and, where the catalogue does not list the model at
// that provider, the same name elsewhere. Then the context window is a guess
// (not Known) and the price unknown. The ID is always the one asked for, the
// Source "catalogue".
func Info(id string) (assistant.ModelInfo, bool) {
	info, ok := theCatalogue().find(strings.ToLower(strings.TrimSpace(id)))
	if !ok {
		return assistant.ModelInfo{}, false
	}
	info.ID = id
	return info, true
}

// find looks for a lower-case id.
func (c *catalogue) find(id string) (assistant.ModelInfo, bool) {
	provider, name, full := strings.Cut(id, "/")
	if !full {
		return c.at(c.byName, id)
	}
	name = strings.TrimPrefix(name, "models/")
	if info, ok := c.at(c.byID, c.canonical(provider)+"/"+name); ok {
		return info, true
	}
	info, ok := c.at(c.byID, name)
	if !ok {
		info, ok = c.at(c.byName, name[strings.LastIndexByte(name, '/')+1:])
	}
	info.Known, info.PriceIn, info.PriceOut = false, 0, 0
	return info, ok
}

func (c *catalogue) at(index map[string]int, key string) (assistant.ModelInfo, bool) {
	place, ok := index[key]
	if !ok {
		return assistant.ModelInfo{}, false
	}
	return c.models[place], true
}
