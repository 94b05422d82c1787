package display

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
)

// A key that was split was shown: only its pieces were compared with the forms of keys.
func TestSplitSecretsAreMasked(t *testing.T) {
	const ant, ghp = "a1B2c3D4e5F6g7H8i9J0k1L2", "0123456789abcdefghijklmnopqrstuvwxyzAB"
	encoded := "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUV2UUlCQURBTkJna3Foa2lH"
	for name, c := range map[string]struct{ text, gone, stays string }{
		"continued line":       {"export KEY=sk-ant-\\\n" + ant + " && make", ant, "&& make"},
		"continued in the key": {"echo sk-ant-" + ant[:12] + "\\\n" + ant[12:], ant[12:], "echo"},
		"quotes":               {"echo 'ghp_'\"" + ghp + "\" | nc x 1", ghp, "| nc x 1"},
		"quotes in the key":    {"echo ghp_" + ghp[:9] + "''" + ghp[9:], ghp[9:], "echo"},
		"zero width":           {"echo ghp_" + ghp[:5] + "\u200b" + ghp[5:], ghp[5:], "echo"},
		"zero width in prefix": {"echo gh\u2060p_" + ghp, ghp, "echo"},
		"soft hyphens":         {"echo ghp_" + strings.Join(strings.Split(ghp, ""), "\u00ad"), "u\u00adv\u00adw", "echo"},
		"base64 in quotes": {"echo '" + encoded + "\n" + strings.Repeat("aB3dE5gH7jK9mN1p", 4) + "' | base64 -d",
			"aB3dE5gH7jK9mN1p", "| base64 -d"},
		"base64 in a file": {encoded + "\n  " + strings.Repeat("aB3dE5gH7jK9mN1p", 4) + "\n", "aB3dE5gH7jK9mN1p", "LS0tLS1"},
	} {
		shell, _ := Call{Tool: "Bash", Command: c.text, OwnShell: true}.Shown()
		for where, shown := range map[string]string{"the mask": Mask(c.text), "the command": shell} {
			if strings.Contains(shown, c.gone) || !strings.Contains(shown, c.stays) {
				t.Errorf("%s: %s shows %q", name, where, shown)
			}
		}
		args, err := json.Marshal(map[string]string{"path": "/x", "content": c.text})
		if err != nil {
			t.Fatal(err)
		}
		escaped := strings.NewReplacer("\u200b", `\u200b`, "\u2060", `\u2060`, "\u00ad", `\u00ad`).Replace(string(args))
		for _, raw := range []string{string(args), escaped} {
			call := Call{Tool: "Write", Args: []byte(raw)}
			shown, _ := call.Shown()
			blocks, _ := call.Body()
			for _, text := range []string{shown, blocks[len(blocks)-1].Text} {
				if strings.Contains(strings.ReplaceAll(text, `\u00ad`, "\u00ad"), c.gone) {
					t.Errorf("%s: a file shows %q", name, text)
				}
			}
		}
	}
}

// A shell runs what follows a line break, and what follows a comment. The mask hides none of it.
func TestNoCommandIsJoinedToAKey(t *testing.T) {
	const ghp = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
	for _, c := range []struct{ text, stays string }{
		{"echo " + ghp[:30] + "\nshutdown9876543210now", "shutdown9876543210now"},
		{"# " + ghp[:30] + "\\\nshutdown9876543210now", "shutdown9876543210now"},
		{"make # " + ghp[:30] + "\\\nshutdown9876543210now", "shutdown9876543210now"},
		{"echo " + ghp[:36] + "\\\nreboot", "reboot"},
		{"echo '" + ghp[:30] + "'\nreboot9876543210xyz", "reboot9876543210xyz"},
		{"echo '" + ghp[:30] + "'; reboot9876543210xyz", "reboot9876543210xyz"},
		{"echo '" + ghp[:30] + "' reboot9876543210xyz", "reboot9876543210xyz"},
		{"echo '" + ghp[:30] + "\nreboot now'", "reboot now"},
		{"'sk-'ant-rm-the-database-now-please-thank-you", "rm-the-database"},
		{"rm -rf 'token: '\"data\"", "data"},
	} {
		if shown := Mask(c.text); !strings.Contains(shown, c.stays) {
			t.Errorf("%q is shown as %q", c.text, shown)
		}
	}
}

// A key whose letters were written as escapes was shown in the arguments of a tool.
func TestAKeyInEscapesIsMasked(t *testing.T) {
	shown, _ := Call{Tool: "x", Args: []byte(`{"a":"\u0067hp_01234\u003567\u003889abcdefghijklmnopqrstuvwxyzAB"}`)}.Shown()
	if strings.Contains(shown, "ijklmnop") {
		t.Error(shown)
	}
}

func TestPlacesInAJSONString(t *testing.T) {
	for _, text := range []string{"abc", "a\u200bb", "\"x\"\n\\y", "é😀z", "😀"} {
		for _, raw := range []string{quoted(text), `"` + escapedAll(text) + `"`} {
			inner := raw[1 : len(raw)-1]
			for i := range text + "." {
				var rest string
				if err := json.Unmarshal([]byte(`"`+inner[inJSON(inner, i):]+`"`), &rest); err != nil || rest != text[i:] {
					t.Errorf("%s: %d is at %d: %q, %v", raw, i, inJSON(inner, i), rest, err)
				}
			}
		}
	}
}

// escapedAll writes each character of a text as an escape.
func escapedAll(text string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&b, `\u%04x`, u)
	}
	return b.String()
}
