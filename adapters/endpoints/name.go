package endpoints

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// ModelNameError means that no endpoint lists a model of this name, or that several do.
type ModelNameError struct {
	Name string
	IDs  []string // full ids of the models with this name or, if there are none, of all models
	Some bool     // IDs are the models with this name
}

// Error implements error and lists models to choose from.
func (n *ModelNameError) Error() string {
	const listed = 10
	text := strings.Join(n.IDs[:min(len(n.IDs), listed)], ", ")
	if more := len(n.IDs) - listed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if n.Some {
		return fmt.Sprintf("%q is the name of several models: %s", n.Name, text)
	}
	return fmt.Sprintf("no endpoint lists a model %q; available models: %s", n.Name, text)
}

// ModelID returns the full id of a model that the user named. The name is PROVIDER/NAME or, if exactly one endpoint
// lists such a model, only NAME or the part of NAME after a "/". If the user set up the first endpoint, a name that
// this endpoint has not listed still belongs to it. With preferNamed, the endpoint that the user named takes precedence
// over a PROVIDER in name. Automatic endpoints are asked if no stored list contains the name. The error is a *NameError
// or an error of Registry.Open.
func (s *Set) ModelID(ctx context.Context, name string, preferNamed bool) (string, error) {
	prefix, rest, qualified := strings.Cut(name, "/")
	first := s.All[0]
	if qualified && rest != "" && s.Named(prefix) != nil && (prefix == first.Name || !preferNamed) {
		return name, nil
	}
	setUp := !first.Auto && first.Name != OfflineName
	if setUp && (preferNamed || s.byName) {
		return first.Name + "/" + name, nil
	}
	found := s.listing(ctx, name, false)
	switch {
	case setUp && (len(found) != 1 || len(s.ids(first.Name+"/")) == 0 || slices.Contains(found, first.Name+"/"+name)):
		return first.Name + "/" + name, nil
	case len(found) == 0:
		found = s.listing(ctx, name, true)
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", &ModelNameError{name, found, true}
	case qualified:
		_, _, _, err := s.Registry.Open(name)
		return "", err
	}
	return "", &ModelNameError{Name: name, IDs: s.ids("")}
}

// Unlisted reports whether the endpoint of a model lists others, but not this one. It reads stored lists.
func (s *Set) Unlisted(id string) bool {
	name, _, _ := strings.Cut(id, "/")
	s.Registry.Restore(name)
	others := false
	for _, m := range s.Registry.Models() {
		if m.ID == id {
			return false
		}
		others = others || strings.HasPrefix(m.ID, name+"/")
	}
	return others
}

// Namesakes returns the full ids of models on other endpoints that have the same name as the model with this id. It
// searches only the lists that are already in the registry, such as those that ModelID has read.
func (s *Set) Namesakes(id string) []string {
	_, name, _ := strings.Cut(id, "/")
	return slices.DeleteFunc(s.ids(""), func(other string) bool {
		_, own, _ := strings.Cut(other, "/")
		return other == id || own != name
	})
}

// listing returns the full ids of the models with this name or, if there are none, of the models with names that end
// with "/" and this name. With ask, it asks the automatic endpoints; otherwise it reads their stored lists.
func (s *Set) listing(ctx context.Context, name string, ask bool) (exact []string) {
	var names []string
	for _, e := range s.All {
		if e.Name != OfflineName && !e.Remote && (e.Auto || !ask) {
			names = append(names, e.Name)
		}
	}
	switch {
	case len(names) == 0:
	case ask:
		ctx, cancel := context.WithTimeout(ctx, listTimeout)
		defer cancel()
		s.Registry.Refresh(ctx, names...) // an endpoint that does not respond has no such model
	default:
		s.Registry.Restore(names...)
	}
	var ends []string
	for _, id := range s.ids("") {
		_, own, _ := strings.Cut(id, "/")
		if own == name {
			exact = append(exact, id)
		} else if strings.HasSuffix(own, "/"+name) {
			ends = append(ends, id)
		}
	}
	if exact == nil {
		return ends
	}
	return exact
}

// ids returns the full ids of the known chat models that start with prefix.
func (s *Set) ids(prefix string) (ids []string) {
	for _, m := range s.Registry.Models() {
		if canChat(m) && strings.HasPrefix(m.ID, prefix) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}
