package dotenv

import "os"

// linkNew moves a file to a name that must not exist, by way of a second name.
func linkNew(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return os.Remove(from)
}
