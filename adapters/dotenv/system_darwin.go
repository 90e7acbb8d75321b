package dotenv

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps two names in one step.
func exchange(a, b string) error { return rename(a, b, unix.RENAME_SWAP) }

// create moves a file to a name that must not exist.
func create(from, to string) error {
	err := rename(from, to, unix.RENAME_EXCL)
	if errors.Is(err, errNoExchange) {
		return linkNew(from, to)
	}
	return err
}

func rename(from, to string, flags uint32) error {
	err := unix.RenamexNp(from, to, flags)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return errNoExchange
	}
	return err
}
