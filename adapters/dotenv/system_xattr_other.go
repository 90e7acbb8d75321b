//go:build !linux && !darwin

package dotenv

import "os"

// readXattrs reads none: attributes are not kept on this system.
func readXattrs(*os.File) (map[string][]byte, error) { return nil, nil }

func writeXattrs(*os.File, map[string][]byte) error { return nil }
