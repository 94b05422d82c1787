package decode_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"approver.example/reflexcore/decode"
)

const plain = "rm -rf /srv/data && echo gone"

func std(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func zipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

func deflated(s string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

func each(s, format string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

func TestApply(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"base64", std(plain), plain},
		{"base64", strings.TrimRight(std(plain), "="), plain},
		{"base64", std(plain)[:20] + "\n  " + std(plain)[20:] + "\n", plain},
		{"base64", base64.URLEncoding.EncodeToString([]byte("\xfb\xff\xfe?")), "\xfb\xff\xfe?"},
		{"base32", base32.StdEncoding.EncodeToString([]byte(plain)), plain},
		{"hex", hex.EncodeToString([]byte(plain)), plain},
		{"hex", each(plain, `\x%02x`), plain},
		{"hex", "0x72,0x6D 0x20", "rm "},
		{"hex", "72:6d:20", "rm "},
		{"url", "rm%20-rf%20%2f+", "rm -rf /+"},
		{"form", "rm+-rf%20%2f", "rm -rf /"},
		{"escape", `\x72\155 \u002drf\t\U0000002f\u{41}\q`, "rm -rf\t/Aq"},
		{"escape", `\0162m`, "rm"},
		{"html", "rm&#32;&#x2d;rf&nbsp;&lt;", "rm -rf\u00a0<"},
		{"gzip", zipped(plain), plain},
		{"zlib", deflated(plain), plain},
		{"rot13", "ez -es /", "rm -rf /"},
		{"rot47", "C> \\C7 ^", "rm -rf /"},
		{"rev", "/ fr- mr", "rm -rf /"},
		{"quoted", "rm=20-rf =\n/", "rm -rf /"},
		{"uu", "#<FT@", "rm "},
		{"ascii85", "<~EbupN~>", "rm -"},
		{"utf16le", "r\x00m\x00", "rm"},
	} {
		got, ok := decode.Apply(c.name, c.in, 0)
		if !ok || got != c.want {
			t.Errorf("%s of %q is %q, %v, want %q", c.name, c.in, got, ok, c.want)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	for _, c := range []struct {
		name, in string
		limit    int
	}{
		{"base64", "not base64!", 0},
		{"base64", "QUJDR", 0},
		{"hex", "abc", 0},
		{"gzip", "no gzip", 0},
		{"utf16le", "abc", 0},
		{"no such", "abc", 0},
		{"rot13", "abc", 2},
		{"gzip", zipped(strings.Repeat("a", 1<<20)), 0},
		{"gzip", zipped(strings.Repeat("a", 60<<10)), 0}, // within the limit, over the ratio
		{"rev", strings.Repeat("a", 2<<20), 0},
	} {
		if got, ok := decode.Apply(c.name, c.in, c.limit); ok {
			t.Errorf("%s of %.20q is %.20q", c.name, c.in, got)
		}
	}
	if got, ok := decode.Apply("gzip", zipped(strings.Repeat("ab", 1000)), 2000); !ok || len(got) != 2000 {
		t.Errorf("what just fits is refused: %v", ok)
	}
}

func TestLayers(t *testing.T) {
	wide := each(plain, "%c\x00")
	for _, c := range []struct{ text, want string }{
		{"echo " + std(plain) + " | base64 -d | sh", "base64"},
		{"x=" + strings.TrimRight(std(plain+"!"), "="), "base64"},
		{"data:" + base64.RawURLEncoding.EncodeToString([]byte(plain)), "base64"},
		{"pre" + std(plain), "base64"},
		{"echo " + std(strings.Repeat(plain, 4))[:64] + "\n" + std(strings.Repeat(plain,
			4))[64:128] + "\n" + std(strings.Repeat(plain, 4))[128:] + "\n", "base64"},
		{"powershell -enc " + std(wide), "base64+utf16le"},
		{"echo " + std(zipped(plain)) + "|base64 -d|gunzip|sh", "base64+gzip"},
		{"echo " + std(deflated(plain)), "base64+zlib"},
		{"echo " + std(std(plain)), "base64 base64+base64"},
		{"echo " + std(`"`+each(plain, `\x%02x`)), "base64 base64+escape"},
		{"echo " + hex.EncodeToString([]byte(plain)), "hex"},
		{"echo 0x" + hex.EncodeToString([]byte(plain)), "hex"},
		{"echo " + base32.StdEncoding.EncodeToString([]byte(plain+"x")), "base32"},
		{`printf '` + each(plain, `\x%02x`) + `'`, "escape"},
		{`printf 'r\x6d -rf \x2fsrv'`, "escape"},
		{`printf '` + each(plain, `\%03o`) + `'`, "escape"},
		{`x = "` + each(plain, `\u%04x`) + `"`, "escape"},
		{"curl 'http://x/?q=%63%61%74%20%2fetc'", "url"},
		{"&#114;&#x6d;&#32;-rf", "html"},
		// What is no layer.
		{"git log --format='%h %s' && ls -la /usr/local/share/applications/mimeinfo.cache", ""},
		{"sha256:9f8251c63f0d43edd991e5dc19d44a8bf3ca5a81671630ab22208110fa624bc0", ""},
		{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKz8vR1hHcXc4Ew1sN7f3Xc0kq2J7pY", ""},
		{`printf '\033[31mred\033[0m\n'`, ""},
		{`sed 's/\(a\)\(b\)/\2\1/'`, ""},
		{"curl 'http://x/a%20b%20c%2Fd'", ""},
		{"date +%Y%m%d%H%M%S", ""},
		{"a && b &#; &&", ""},
		{"TestTheDaemonKeepsWhatItWasTold TestASecondSenderOfAPairingCode", ""},
	} {
		var got []string
		for _, l := range decode.Layers(nil, c.text, decode.Limits{}) {
			got = append(got, l.Via)
			if l.More {
				t.Errorf("%q hits a limit", c.text)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q has layers %q, want %q", c.text, got, c.want)
		}
	}
}

// The text that comes out last is the command, whichever way it was hidden.
func TestLayersReachTheCommand(t *testing.T) {
	text := plain
	for i, wrap := range []func(string) string{std, func(s string) string { return std(zipped(s)) },
		func(s string) string { return hex.EncodeToString([]byte(s)) }} {
		text = wrap(text)
		layers := decode.Layers(nil, "echo "+text+" | x", decode.Limits{})
		if len(layers) != i+1 || layers[i].Text != plain || layers[i].Depth != i+1 || layers[i].More {
			t.Errorf("under %d encodings: %+v", i+1, layers)
		}
	}
}

func TestLayersAreBounded(t *testing.T) {
	text := plain
	for range 8 {
		text = std(text)
	}
	layers := decode.Layers(nil, text, decode.Limits{})
	if len(layers) != 4 || !layers[3].More {
		t.Errorf("8 encodings: %d layers, the last says more: %v", len(layers), layers[len(layers)-1].More)
	}
	if layers = decode.Layers(nil, strings.Repeat(std(plain)+" ", 1000), decode.Limits{}); len(layers) != 64 ||
		!layers[63].More {
		t.Errorf("1000 runs: %d layers", len(layers))
	}
	if layers = decode.Layers(nil, std(strings.Repeat("x ", 100)), decode.Limits{Bytes: 20}); len(layers) != 1 ||
		layers[0].Text != "" || !layers[0].More {
		t.Errorf("too long for the limit: %+v", layers)
	}
	if layers = decode.Layers(nil, std(zipped(strings.Repeat("a", 1<<20))), decode.Limits{}); len(layers) != 0 {
		t.Errorf("a bomb: %d layers", len(layers))
	}
}

func TestPlainTextCostsNothing(t *testing.T) {
	text := ordinary(10 << 10)
	if n := testing.AllocsPerRun(20, func() { decode.Layers(nil, text, decode.Limits{}) }); n != 0 {
		t.Errorf("%v allocations for a plain text", n)
	}
}

func ordinary(n int) string {
	const line = "find /usr/local/share/applications -name '*.desktop' -newermt 2026-01-01 | xargs grep -l " +
		"\"Exec=%f\" # sha 9f8251c63f0d43edd991e5dc19d44a8b\n"
	return strings.Repeat(line, n/len(line)+1)[:n]
}

func BenchmarkLayers(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"plain100", ordinary(100)}, {"plain500", ordinary(500)}, {"plain10K", ordinary(10 << 10)},
		{"one", "echo " + std(plain) + " | base64 -d | sh"},
		{"nested", std(std(zipped(plain)))},
		{"escapes10K", each(strings.Repeat("a", 2560), `\x%02x`)},
		{"runs10K", strings.Repeat(std(plain)+" ", 256)},
		{"noise10K", strings.Repeat("AAAA/w//8A/", 930)},
		{"backslashes10K", strings.Repeat(`\x`, 5<<10)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.text)))
			var dst []decode.Layer
			for b.Loop() {
				dst = decode.Layers(dst[:0], c.text, decode.Limits{})
			}
		})
	}
}

func FuzzApply(f *testing.F) {
	for i, s := range []string{std(plain), zipped(plain), deflated(plain), "#<FT@", `\x41\u{`, "%4", "=\r\n"} {
		f.Add(i, s)
	}
	names := decode.Names()
	f.Fuzz(func(t *testing.T, which int, in string) {
		name := names[max(0, which)%len(names)]
		if out, ok := decode.Apply(name, in, 1<<12); ok && len(out) > 1<<12 || !ok && out != "" {
			t.Errorf("%s gives %d bytes, %v", name, len(out), ok)
		}
	})
}

func FuzzLayers(f *testing.F) {
	for _, s := range []string{plain, std(plain), std(zipped(plain)), std(std(plain)), each(plain, `\x%02x`),
		"&#114;&#x6d;", `\x{`, "%4", std(plain) + "\n" + std(plain)} {
		f.Add(s)
	}
	lim := decode.Limits{Depth: 3, Bytes: 1 << 12, Layers: 8}
	f.Fuzz(func(t *testing.T, text string) {
		layers := decode.Layers(nil, text, lim)
		total := 0
		for _, l := range layers {
			total += len(l.Text)
			if l.Depth < 1 || l.Depth > lim.Depth {
				t.Errorf("depth %d", l.Depth)
			}
		}
		if total > lim.Bytes || len(layers) > lim.Layers+1 {
			t.Errorf("%d layers, %d bytes", len(layers), total)
		}
		if !slices.Equal(layers, decode.Layers(nil, text, lim)) {
			t.Error("a second look sees something else")
		}
	})
}
