package attachment_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"winnow/assistant/attachment"
)

// encoded is a picture of one colour.
func encoded(t testing.TB, kind string, w, h int) []byte {
	t.Helper()
	m := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White, color.Black})
	var b bytes.Buffer
	var err error
	switch kind {
	case "PNG":
		err = png.Encode(&b, m)
	case "JPEG":
		err = jpeg.Encode(&b, m, nil)
	case "GIF":
		err = gif.Encode(&b, m, nil)
	case "WEBP":
		b.WriteString("RIFF\x1a\x00\x00\x00WEBPVP8L")
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The bytes say what a picture is, not its name.
func TestThePicturesThatModelsTake(t *testing.T) {
	for kind, size := range map[string]string{"PNG": " · 30×20", "JPEG": " · 30×20", "GIF": " · 30×20", "WEBP": ""} {
		data := encoded(t, kind, 30, 20)
		f, err := attachment.NewPicture("notes.txt", data)
		if err != nil || f.Type != "image/"+strings.ToLower(kind) || f.Size != int64(len(data)) || len(f.Hash) != 64 || f.Check() != nil {
			t.Errorf("%s: %+v, %v", kind, f, err)
		}
		if want := "notes.txt · " + kind + size + " · "; !strings.HasPrefix(f.String(), want) {
			t.Errorf("%s is described as %q, want %q", kind, f, want)
		}
		if !attachment.IsPicture("notes.txt", data) {
			t.Errorf("%s is taken for text", kind)
		}
	}
}

func TestWhyAPictureIsRefused(t *testing.T) {
	large := append(encoded(t, "PNG", 1, 1), make([]byte, attachment.MaxPictureBytes)...)
	for why, data := range map[string][]byte{
		"larger than 3.75 MiB":                  large,
		"convert it to PNG":                     []byte("<svg/>"),
		"damaged PNG picture":                   encoded(t, "PNG", 9, 9)[:20],
		"8001×1 pixels, but at most 8000 per s": encoded(t, "GIF", 8001, 1),
		"not a kind of picture that models":     nil,
	} {
		if _, err := attachment.NewPicture("a.png", data); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("refused with %v, want %q", err, why)
		}
		if !attachment.IsPicture("a.PNG", data) || attachment.IsPicture("a.md", []byte("text")) {
			t.Errorf("%q is taken for text, or text for a picture", why)
		}
	}
}

// The examples of the published rule, and what is never scaled up.
func TestTokensOfPictures(t *testing.T) {
	for _, test := range []struct{ w, h, want int }{
		{1024, 1024, 765}, {2048, 4096, 1105}, {512, 512, 255}, {513, 512, 425}, {1, 8000, 765}, {2048, 768, 1445}, {0, 0, 1445},
	} {
		f := attachment.File{Hash: "h", Width: test.w, Height: test.h}
		if got := attachment.Tokens([]attachment.File{f, {Name: "a.txt", Width: 9, Height: 9}}); got != test.want {
			t.Errorf("%d×%d cost %d, want %d", test.w, test.h, got, test.want)
		}
	}
}

// A request that is stored or shown says what is left out of it; the one that is sent has
// the bytes.
func TestURLs(t *testing.T) {
	data := encoded(t, "PNG", 1024, 1024)
	f, err := attachment.NewPicture("a · ~9 tokens.png", data)
	if err != nil {
		t.Fatal(err)
	}
	if url := f.URL(); url != "data:image/png;base64,"+base64.StdEncoding.EncodeToString(data) {
		t.Errorf("the URL is %.60s", url)
	}
	short := attachment.Stripped([]attachment.File{f})[0]
	text, tokens, ok := attachment.ReadURL(short.URL())
	if !ok || text != f.String() || tokens != 765 || !strings.Contains(short.URL(), f.Hash) {
		t.Errorf("%q is read as %q, %d, %v", short.URL(), text, tokens, ok)
	}
	if f.Data == nil {
		t.Error("Stripped has changed its argument")
	}
	for _, other := range []string{"", f.URL(), "https://example.com/(left out: x)", "data:image/png;base64,(left out: x)"} {
		if _, _, ok := attachment.ReadURL(other); ok {
			t.Errorf("%.40q is taken for one that is left out", other)
		}
	}
}

func TestCheckFindsOtherBytes(t *testing.T) {
	f, err := attachment.NewPicture("a.png", encoded(t, "PNG", 3, 3))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(f)
	var back attachment.File
	if err != nil || json.Unmarshal(raw, &back) != nil || back.Check() != nil || len(attachment.Pictures([]attachment.File{back, {Name: "text"}})) != 1 {
		t.Errorf("%s becomes %+v", raw, back)
	}
	back.Data[9] ^= 1
	if back.Check() == nil {
		t.Error("other bytes pass")
	}
}

// No bytes make it panic or take long.
func FuzzNewPicture(f *testing.F) {
	for _, kind := range []string{"PNG", "JPEG", "GIF", "WEBP"} {
		f.Add("a.png", encoded(f, kind, 7, 7))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		p, err := attachment.NewPicture(name, data)
		if err == nil && (p.Check() != nil || attachment.Tokens([]attachment.File{p}) < 255) {
			t.Errorf("%v costs %d", p, attachment.Tokens([]attachment.File{p}))
		}
		if text, _, ok := attachment.ReadURL(attachment.Stripped([]attachment.File{p})[0].URL()); err == nil && (!ok || text != p.String()) {
			t.Errorf("%q is read as %q", p, text)
		}
	})
}
