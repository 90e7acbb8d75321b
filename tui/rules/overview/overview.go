// Package overview is what the pane of the rules shows of all providers at once: the
// models that are shown and hidden, the unsaved changes, and what saving them would do.
//
// # Types
//
// Numbers are those of one provider, as the snapshot of the window has them. A Table draws
// them as lines.
//
// # Concurrency
//
// Everything is a value, or a function of values.
//
// # Caveats
//
// Until the list of models of a provider was read, nothing is known of it but its rules.
package overview

import "winnow/adapters/modelfilter"

// Numbers are what is known of a provider.
type Numbers struct{ modelfilter.ProviderView }

// Sum adds the numbers of providers up. unknown is how many have no list of models.
func Sum(rows []modelfilter.ProviderView) (sum Numbers, unknown int) {
	for _, n := range rows {
		sum.Read = sum.Read || n.Read
		sum.Counts.Total += n.Counts.Total
		sum.Counts.Available += n.Counts.Available
		sum.Counts.Hidden += n.Counts.Hidden
		sum.Counts.Whitelisted += n.Counts.Whitelisted
		sum.Changes += n.Changes
		sum.Effect.Hidden = append(sum.Effect.Hidden, n.Effect.Hidden...)
		sum.Effect.Shown = append(sum.Effect.Shown, n.Effect.Shown...)
		sum.Effect.Known = sum.Effect.Known || n.Effect.Known
		if n.Counts.Total == 0 {
			unknown++
		}
	}
	return sum, unknown
}
