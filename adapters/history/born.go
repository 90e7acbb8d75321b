package history

// born is what pairs had before the tools of this window first changed it, by
// kind and pair. A state older than a pair cannot say it.
type born [kinds]map[int64]string

func newBorn() born {
	var b born
	for kind := range b {
		b[kind] = map[int64]string{}
	}
	return b
}

// note remembers the pairs that differ between two moments.
func (b born) note(before, after marks) {
	for kind := range b {
		for _, pairs := range before.columns[kind].changes(after.columns[kind]) {
			for seq, value := range before.columns[kind].values(pairs) {
				if _, known := b[kind][seq]; !known {
					b[kind][seq] = value
				}
			}
		}
	}
}

// back is what pairs after newest need to have what they were born with.
func (b born) back(kind int, now marks, newest int64) map[string]seqs {
	needs := map[string]seqs{}
	later := now.pairs.after(newest)
	if len(later) == 0 || len(b[kind]) == 0 {
		return needs
	}
	has := now.columns[kind].values(later)
	for _, seq := range later {
		if value, known := b[kind][seq]; known && has[seq] != value {
			needs[value] = append(needs[value], seq)
		}
	}
	return needs
}
