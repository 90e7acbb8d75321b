package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"winnow/assistant/llm"
	"winnow/checkpoint/privatefile"
)

const (
	// maxName is the maximum length of a model's name in characters: the longest real name
	// is about half as long, and ids are part of prompts.
	maxName = 200
	// maxModels is the maximum length of a list. The largest aggregator lists far fewer
	// models.
	maxModels = 200_000
	// maxSeen is how many names a baseline may contain. When it is full, names that left the
	// list are dropped; they would then count as new again.
	maxSeen = 2 * maxModels
)

// usable reports whether name can be displayed, sent, and matched by a pattern. Since patterns
// are trimmed, a name with spaces at its ends is not usable.
func usable(name string) bool {
	return name != "" && len(name) <= maxName*utf8.UTFMax &&
		utf8.RuneCountInString(name) <= maxName &&
		strings.TrimSpace(name) == name && !strings.ContainsFunc(name, unsendable)
}

// unsendable reports whether r is a control character, a line separator or the
// replacement character of invalid UTF-8.
func unsendable(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
}

// model is one entry of a list, as stored. The name does not contain the provider.
type model struct {
	Name    string      `json:"name"`
	Context int         `json:"context,omitempty"`
	Tools   bool        `json:"tools,omitempty"`
	Reasons bool        `json:"reasons,omitempty"`
	Images  bool        `json:"images,omitempty"`
	Vision  llm.Ability `json:"vision,omitempty"`
	NoChat  bool        `json:"no_chat,omitempty"`
	llm.Facts
}

// modelsOf converts the models of an endpoint to a list, sorted by name, without duplicates
// or unusable names. dropped counts the entries left out, except duplicates.
func modelsOf(infos []llm.ModelInfo, t Target) (list []model, dropped int) {
	list = make([]model, 0, len(infos))
	for _, info := range infos {
		name, ok := strings.CutPrefix(info.ID, t.Name+"/")
		name = strings.TrimPrefix(name, t.idPrefix)
		if !ok || !usable(name) {
			dropped++
			continue
		}
		list = append(list, model{
			Name: name, Context: max(info.Context, 0),
			Tools: info.Tools, Reasons: info.Reasons, Images: info.Images, Vision: info.Vision, NoChat: info.NoChat,
			Facts: info.Facts,
		})
	}
	return sortUnique(list), dropped
}

// sortUnique sorts list and removes all but the first of equal names.
func sortUnique(list []model) []model {
	slices.SortStableFunc(list, byName)
	return slices.CompactFunc(list, func(a, b model) bool { return a.Name == b.Name })
}

func byName(a, b model) int { return strings.Compare(a.Name, b.Name) }

// names lists the names in list.
func names(list []model) []string {
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = m.Name
	}
	return out
}

// ids converts names to full ids in place.
func ids(provider string, names []string) []string {
	for i, name := range names {
		names[i] = provider + "/" + name
	}
	return names
}

// record is the stored list of one provider.
type record struct {
	Provider string    `json:"provider"`
	Source   string    `json:"source"` // SourceLive or SourceProxy
	Base     string    `json:"base"`   // the address the models came from, without secrets
	At       time.Time `json:"at"`
	Partial  bool      `json:"partial,omitempty"`
	Models   []model   `json:"models"` // sorted by name
	// Seen is the baseline: the names that are not new, sorted. Names that leave the list
	// stay in it, so that they are not new when they return.
	Seen []string `json:"seen"`
	// Served are the models that proxies serve, if Models is the provider's own list; the
	// proxy that answered last is first. A list that comes from a proxy is in Models.
	Served []served `json:"served,omitempty"`
	// Looked are the models as the user last saw them, sorted by name; nil if unknown.
	Looked []listed `json:"looked,omitempty"`
}

// served holds the models of a provider that the proxy at an address serves. Models are
// only added, because the proxy omits models hidden by its rules.
type served struct {
	Base   string  `json:"base"`
	Models []model `json:"models"` // sorted by name
}

// maxProxies is the maximum number of proxies whose models are stored. A user has one proxy
// for each folder in use.
const maxProxies = 8

// servedBy returns the models that the proxy at an address serves, from Served.
func (r *record) servedBy(base string) []model {
	if i := slices.IndexFunc(r.Served, func(s served) bool { return s.Base == base }); i >= 0 {
		return r.Served[i].Models
	}
	return nil
}

// own reports whether Models is the provider's own list.
func (r *record) own() bool { return r.Models != nil && r.Source != SourceProxy }

// addServed records what a proxy serves in addition to the provider's own list. The first
// models from an address are not new.
func (r *record) addServed(f fetched) {
	before := r.servedBy(f.base)
	list := sortUnique(slices.Concat(f.models, before))
	if before == nil {
		r.markSeen(slices.DeleteFunc(names(list), r.contains))
	}
	others := slices.DeleteFunc(slices.Clone(r.Served), func(s served) bool { return s.Base == f.base })
	r.Served = slices.Insert(others, 0, served{f.base, list[:min(len(list), maxModels)]})
	r.Served = r.Served[:min(len(r.Served), maxProxies)]
}

// knows reports whether addServed would change nothing.
func (r *record) knows(f fetched) bool {
	stored := r.servedBy(f.base)
	return !slices.ContainsFunc(f.models, func(m model) bool {
		i, ok := slices.BinarySearchFunc(stored, m, byName)
		return !ok || !reflect.DeepEqual(stored[i], m)
	})
}

// fetched is the result of a fetch.
type fetched struct {
	models  []model
	source  string
	base    string
	partial bool
	dropped int
	at      time.Time
	note    error // why a better source was not used; nil if this is the best
}

// apply replaces the stored models with the models of f, or adds them if f is partial. The
// first models from an address are not new. What a proxy serves never replaces the
// provider's own list.
func (r *record) apply(f fetched) {
	if f.source == SourceProxy && r.own() {
		r.addServed(f)
		return
	}
	sameBase := r.Models != nil && r.Base == f.base
	list := f.models
	if f.partial {
		list = sortUnique(slices.Concat(f.models, r.Models))
		list = list[:min(len(list), maxModels)]
	}
	r.Models, r.Source, r.Base, r.At, r.Partial = list, f.source, f.base, f.at, f.partial
	if !sameBase {
		r.look(names(list))
	}
}

// newNames lists the names that are not in the baseline, including the names served by the
// proxy at an address.
func (r *record) newNames(proxy string) []string {
	var out []string
	seen, list := r.Seen, r.Models
	if more := r.servedBy(proxy); len(more) > 0 {
		list = sortUnique(slices.Concat(list, more))
	}
	for _, m := range list {
		for len(seen) > 0 && seen[0] < m.Name {
			seen = seen[1:]
		}
		if len(seen) == 0 || seen[0] != m.Name {
			out = append(out, m.Name)
		}
	}
	return out
}

// markSeen adds names to the baseline.
func (r *record) markSeen(names []string) {
	seen := slices.Concat(r.Seen, names)
	slices.Sort(seen)
	if seen = slices.Compact(seen); len(seen) > maxSeen {
		seen = slices.DeleteFunc(seen, func(name string) bool { return !r.contains(name) })
	}
	r.Seen = seen
}

func (r *record) contains(name string) bool {
	_, ok := slices.BinarySearchFunc(r.Models, model{Name: name}, byName)
	return ok
}

// disk stores records in a folder, one file per provider. "" stores nothing.
type disk string

// path returns the path of a provider's file. For an unusual name the file name is "+" and
// a hash, which is not a valid provider name.
func (d disk) path(provider string) string {
	if !isVariablePrefix(provider) || len(provider) > 64 || strings.Trim(provider[:1], "_-.") == "" {
		provider = "+" + privatefile.Sum([]byte(provider))[:32]
	}
	return filepath.Join(string(d), provider+".list")
}

// load reads the record of a provider; it returns nil without an error if there is none.
// The file is not trusted: names of models are checked like names from an endpoint.
func (d disk) load(provider string) (*record, error) {
	if d == "" {
		return nil, nil
	}
	var r record
	err := privatefile.ReadDocument(d.path(provider), &r)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r.Models = sortUnique(slices.DeleteFunc(r.Models, func(m model) bool { return !usable(m.Name) }))
	valid(r.Models)
	for i := range r.Served {
		s := &r.Served[i]
		s.Models = sortUnique(slices.DeleteFunc(s.Models, func(m model) bool { return !usable(m.Name) }))
		valid(s.Models)
	}
	if err == nil && (r.Provider != provider || r.Source != SourceLive && r.Source != SourceProxy || len(r.Models) == 0 || len(r.Models) > maxModels) {
		err = privatefile.ErrDamaged
	}
	if err != nil {
		return nil, fmt.Errorf("the stored list is not used: %w", err)
	}
	slices.Sort(r.Seen)
	slices.SortFunc(r.Looked, func(a, b listed) int { return strings.Compare(a.Name, b.Name) })
	r.Looked = slices.DeleteFunc(r.Looked, func(m listed) bool { return !usable(m.Name) })
	return &r, nil
}

func valid(list []model) {
	for i := range list {
		list[i].Facts = list[i].Facts.Valid()
	}
}

// update applies change to a record under the folder's lock: to the record on disk, or to
// base if that is newer or the disk has no readable record. It returns the changed record
// even if it could not be written.
func (d disk) update(ctx context.Context, base record, baseIsNewer bool, change func(*record)) (r *record, err error) {
	r = &base
	if d != "" {
		_, err = privatefile.DocumentFolder(string(d))
		var unlock func()
		if err == nil { // a fetched list is stored even if its caller no longer waits
			unlock, err = privatefile.LockDocument(context.WithoutCancel(ctx), filepath.Join(string(d), ".lock"))
		}
		if err == nil {
			defer unlock()
			var stored *record
			if stored, err = d.load(base.Provider); stored != nil && !baseIsNewer {
				r = stored
			}
			if errors.Is(err, privatefile.ErrDamaged) {
				err = os.Rename(d.path(base.Provider), d.path(base.Provider)+".damaged")
			}
		}
	}
	change(r)
	if d != "" && err == nil {
		err = privatefile.WriteDocument(d.path(r.Provider), r)
	}
	if err != nil {
		err = fmt.Errorf("the list was not saved: %w", privatefile.Cause(err))
	}
	return r, err
}

// merge returns info with the facts in m, which take precedence.
func (m model) merge(info llm.ModelInfo) llm.ModelInfo {
	if m.Context > 0 {
		info.Context, info.Known = m.Context, true
	}
	info.Facts = m.Facts.Or(info.Facts)
	info.Tools, info.NoChat = m.Tools, m.NoChat
	info.Reasons, info.Images, info.Vision = info.Reasons || m.Reasons, m.Images, cmp.Or(m.Vision, info.Vision)
	return info
}
