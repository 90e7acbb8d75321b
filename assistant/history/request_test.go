package history

import (
	"bytes"
	"testing"
)

// FuzzRequestBody: any blob unpacks to so many bytes or is refused, and what
// was packed comes back.
func FuzzRequestBody(f *testing.F) {
	whole, err := pack([]byte(`{"messages":[{"role":"user","content":"hello hello hello"}]}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"model":"m"}`), 0, whole, 60)
	f.Add([]byte{}, 3, whole[:len(whole)-2], 60)
	f.Add(bytes.Repeat([]byte("a"), 5000), 17, []byte{0x78, 0x01}, -1)
	f.Fuzz(func(t *testing.T, body []byte, at int, blob []byte, size int) {
		if got, err := Unpack(blob, size); err == nil && len(got) != size {
			t.Fatalf("unpack gave %d bytes, want %d or an error", len(got), size)
		}
		packed, err := pack(body)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Unpack(packed, len(body)); err != nil || !bytes.Equal(got, body) {
			t.Fatalf("Unpack(pack(%q)) = %q, %v", body, got, err)
		}
		at = int(uint(at) % uint(len(packed)))
		packed[at] ^= 0x20
		if got, err := Unpack(packed, len(body)); err == nil && !bytes.Equal(got, body) {
			t.Fatalf("byte %d was changed, and unpack gave other bytes without an error", at)
		}
	})
}
