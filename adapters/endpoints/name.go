package endpoints

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A NameError is the name of a model that no endpoint lists, or that several do.
type NameError struct {
	Name string
	IDs  []string // the models that may be meant, with PROVIDER/; else all there are
	Some bool     // IDs are those of that name
}

// Error names the models to choose from.
func (n *NameError) Error() string {
	const listed = 10
	text := strings.Join(n.IDs[:min(len(n.IDs), listed)], ", ")
	if more := len(n.IDs) - listed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if n.Some {
		return fmt.Sprintf("%q is the name of several models: %s", n.Name, text)
	}
	return fmt.Sprintf("no endpoint lists a model %q; there are %s", n.Name, text)
}

// ModelID is the full id of a model that the user named: PROVIDER/NAME of an endpoint;
// else the NAME of a model, or the end of it after a "/", that one endpoint lists. A name
// that the first endpoint has not listed still belongs to it if the user set it up.
// With preferNamed the endpoint that the user named takes precedence over a PROVIDER in
// name. The endpoints that were found by themselves are asked if no list of an earlier run
// has the name. Errors are *NameError, or as for Registry.Open.
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
		return "", &NameError{name, found, true}
	case qualified:
		_, _, _, err := s.Registry.Open(name)
		return "", err
	}
	return "", &NameError{Name: name, IDs: s.ids("")}
}

// listing are the models with this name, by full id: as their endpoint calls them, else
// the end of that after a "/". The endpoints that were found by themselves are asked, or
// their lists of earlier runs are read.
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
		s.Registry.Refresh(ctx, names...) // one that does not answer has no model of this name
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

// ids are the known models that can chat and whose full ids begin with prefix.
func (s *Set) ids(prefix string) (ids []string) {
	for _, m := range s.Registry.Models() {
		if canChat(m) && strings.HasPrefix(m.ID, prefix) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}
