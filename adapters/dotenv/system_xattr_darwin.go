package dotenv

import "golang.org/x/sys/unix"

// noXattr is what the system says of an attribute that is not there.
const noXattr = unix.ENOATTR
