//go:build !linux && !darwin

package dotenv

// exchange does not exist here: a save compares right before it renames.
func exchange(string, string) error { return errNoExchange }

// create moves a file to a name that must not exist.
func create(from, to string) error { return linkNew(from, to) }
