package modelfilter

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// release is the version and date of a model, taken from its name.
type release struct {
	model   FoundModel
	version []int  // the first run of numbers that are neither a date nor a size
	date    int    // YYYYMMDD, MMDD, or a revision such as 2 for 002; undated if the name has none
	series  string // the name without version and date; a newer model replaces older ones of its series
}

// undated is the date of a name that contains none. It sorts as the newest, because such a name is an
// alias of the newest model of its series.
const undated = 99999999

var (
	// dates finds a part of the name that is a date or a revision: 20251101, 2025-11-01, 0613, 002.
	dates = regexp.MustCompile(`[-_@:](20\d\d-?\d\d-?\d\d|\d{3,4})(?:$|[-_@:])`)
	// sizes finds 70b, 8x7b, a22b and 16k, which are not versions.
	sizes = regexp.MustCompile(`[-_:](?:a?\d+(?:\.\d+)?[bkm]|\d+x\d+b)\b`)
	// versions finds 3-5, 4.1, the 4 of 4o and the 3 of qwen3.
	versions = regexp.MustCompile(`(?:^|\D)(\d{1,2}(?:[.-]\d{1,2})*)(?:$|\D)`)
	// notGeneral matches names of models that are skipped if there are any others: a speech or image
	// model is not a newer version of the general models of its family.
	notGeneral = regexp.MustCompile(`(?i)embed|tts|audio|realtime|transcribe|image|moderation|whisper|sora|search|instruct|guard|vision`)
	firstWord  = regexp.MustCompile(`^[A-Za-z]+`)
)

// newRelease derives a release from a model's name, because few models have a known release date.
func newRelease(m FoundModel) release {
	blank := func(s string) string { return strings.Repeat("-", len(s)) } // keeps the offsets of the rest of the name
	name := strings.ToLower(m.Info.ID[strings.LastIndexByte(m.Info.ID, '/')+1:])
	r := release{model: m, date: undated, series: strings.ReplaceAll(name, "-latest", "")}
	if at := dates.FindStringSubmatchIndex(r.series); at != nil {
		r.date, _ = strconv.Atoi(strings.ReplaceAll(r.series[at[2]:at[3]], "-", "")) // cannot fail: at most eight digits
		r.series = r.series[:at[0]] + r.series[at[3]:]
	}
	if at := versions.FindStringSubmatchIndex(sizes.ReplaceAllStringFunc(r.series, blank)); at != nil {
		for n := range strings.FieldsFuncSeq(r.series[at[2]:at[3]], func(c rune) bool { return c == '.' || c == '-' }) {
			v, _ := strconv.Atoi(n) // cannot fail: at most two digits
			r.version = append(r.version, v)
		}
		r.series = r.series[:at[2]] + "#" + r.series[at[3]:]
	}
	return r
}

// newestOf returns the newest models, one per series: up to count models or, if count is 0, those
// with the highest version. Of equally new models of a series it picks the one with the shortest id.
// Versions of different families cannot be compared, so unless oneFamily is set, only the most
// common family counts.
func newestOf(models []FoundModel, count int, oneFamily bool) (out []FoundModel) {
	family := func(m FoundModel) string { return firstWord.FindString(displayName(m.Provider, m.Info.ID)) }
	if !oneFamily {
		counts, most := map[string]int{}, ""
		for _, m := range models {
			w := family(m)
			if counts[w]++; w != "" && counts[w] > counts[most] {
				most = w
			}
		}
		models = kept(models, func(m FoundModel) bool { return family(m) == most })
	}
	if general := kept(models, func(m FoundModel) bool { return !notGeneral.MatchString(m.Info.ID) }); len(general) > 0 {
		models = general
	}
	releases := make([]release, len(models))
	for i, m := range models {
		releases[i] = newRelease(m)
	}
	slices.SortStableFunc(releases, func(a, b release) int {
		return cmp.Or(slices.Compare(b.version, a.version), b.date-a.date, len(a.model.Info.ID)-len(b.model.Info.ID))
	})
	seen := map[string]bool{} // series
	for _, r := range releases {
		if count > 0 && len(out) == count || count == 0 && !slices.Equal(r.version, releases[0].version) {
			break
		}
		if !seen[r.series] {
			seen[r.series], out = true, append(out, r.model)
		}
	}
	return out
}
