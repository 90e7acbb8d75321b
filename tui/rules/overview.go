package rules

import "winnow/adapters/modelfilter"

// providerNumbers contains what is known about a provider, or the totals of all providers.
type providerNumbers struct{ modelfilter.ProviderView }

// sumNumbers adds up the numbers of providers. unknown is the number of providers whose
// models are not known.
func sumNumbers(rows []modelfilter.ProviderView) (sum providerNumbers, unknown int) {
	for _, n := range rows {
		sum.Read = sum.Read || n.Read
		sum.Counts.Total += n.Counts.Total
		sum.Counts.Shown += n.Counts.Shown
		sum.Counts.Hidden += n.Counts.Hidden
		sum.Counts.Allowed += n.Counts.Allowed
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
