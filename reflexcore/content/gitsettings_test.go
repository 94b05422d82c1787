package content_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/reflexcore/content"
)

// gitTexts are settings of git, in forms that are easily read otherwise.
var gitTexts = []string{
	"[core]\n\thooksPath = h\n", "[CORE]\nHOOKSPATH=h", "[core]hooksPath=h", "[Core] HooksPath = \"h\" ; ] x\n",
	"[core] # ]\n\thooksPath = h # x\n",
	"[core]\nhooksPath = a\nhooksPath = b\n", "[core]\nhooksPath\n", "[core]\nhooksPath =\n",
	"[core]\n\thooksPath = \\\n\t h\n", "[core]\nhooksPath = h\\",
	"[core]\r\n\thooksPath = h\r\n", "\ufeff[core]\nhooksPath = h\n", "[core]\nhooksPath = a\\\"b\\\\c\n",
	"[core]\nhooksPath = \"a;b#c\" d\n", "[core]\nhooksPath = \" a \"\n",
	"[core]\nhooksPath = \"\"  a\n", "[core]\nhooksPath = a  b\\\n  c\n", "[core]\nhooksPath = \"a\n",
	"[core]\nhooksPath = \\q\n", "[core]\nhooksPath = a \"\" \n",
	"[core \"x\"]\nhooksPath = a\n", "[core.x]\nhooksPath = a\n", "[core \"]\"]\nhooksPath = a\n[core]\nhooksPath = h\n",
	"[a \"b\\\"]\"]\nc = d\n[core]\nhooksPath = h\n",
	"[core]\nhooksPath = h\n[core \"x\"]\nhooksPath = a\n", "[a]\nb = c \\\n[core]\nhooksPath = a\n",
	"[a]\nb = \"\\\n[core]\"\nhooksPath = a\n[core]\nhooksPath = h",
	"; [core]\n[x] ; [core]\nhooksPath = a\n", "[core]\nhooksPath = h\x00x\n", "[core]\n# a\x00\nhooksPath = h\n",
	"[core]\nhooks-Path = a\nhooksPath2 = b\n", "[core]\nhooksPath: h\n",
	"[ core ]\nhooksPath = h\n", "[core\nhooksPath = h\n", "[]\nhooksPath = h\n", "hooksPath = h\n[core]\nhooksPath = i",
	"[include]\npath = x\n[includeIf \"gitdir:~/x/\"]\npath = y\n",
	"[core]\rhooksPath = h\r", "[core]\n\vhooksPath = h\n", "[core]\nhooksPath = \th\t\n",
	"[core]\nhooksPath = h ;\\\nfsmonitor = x\n", "[core]\n#\\\nhooksPath = h\n", "[core]\nhooksPath = a\\tb\\n\\b\n",
}

// gitReads are the settings that git itself reads in a text, the last value of each; false
// if it reads none of it.
func gitReads(t *testing.T, text string) (map[string]string, bool) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "config", "--file", file, "--no-includes", "--null", "--list")
	cmd.Dir = filepath.Dir(file)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir, "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.Output()
	if err != nil {
		return nil, false
	}
	found := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if key, value, ok := strings.Cut(line, "\n"); ok {
			found[strings.ToLower(key)] = value
		} else if line != "" {
			found[strings.ToLower(line)] = "true"
		}
	}
	return found, true
}

// asGit compares what is read of a text with what git reads.
func asGit(t *testing.T, text string, all bool) {
	t.Helper()
	want, ok := gitReads(t, text)
	settings, err := content.GitSettings(text)
	if !ok || err != nil {
		if ok && all {
			t.Errorf("%q is not read, but by git", text)
		}
		return // git stops there, or it is said that it is not known
	}
	got := map[string]string{}
	for _, s := range settings {
		got[s.Key] = s.Value
	}
	space := strings.NewReplacer("\t", " ", "\r", " ") // in a value each git does as it likes
	for key, value := range want {
		if !strings.Contains(key, ".") {
			continue // no section
		}
		if have, ok := got[key]; !ok || space.Replace(have) != space.Replace(value) {
			t.Errorf("%q: %s is %q, but git reads %q", text, key, have, value)
		}
	}
}

// What git reads is read, or it is said that it is not known.
func TestGitSettingsAreThoseThatGitReads(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	for _, text := range gitTexts {
		odd := strings.ContainsAny(text, "\x00\v") || strings.HasSuffix(text, "\\") || strings.HasPrefix(text, "hooksPath")
		asGit(t, text, !odd)
	}
	pieces := strings.Split(`[core]|[core "x"]|[a.b]|hooksPath|HOOKSPATH|=| = |"|\|\\|\"|;|#|]|[| |h|~/h|`+"\n|\n|\n|"+
		"\r\n|\t|\\\n", "|")
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same texts each time
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	for range rounds {
		text := "[core]\nhooksPath = "
		for range 1 + r.IntN(10) {
			text += pieces[r.IntN(len(pieces))]
		}
		asGit(t, text+"\n", false)
	}
}

// Settings come to an end, whatever they are. Each is in the text, by a small name.
func FuzzGitSettings(f *testing.F) {
	for _, text := range gitTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		settings, err := content.GitSettings(text)
		low, size := strings.ToLower(text), 0
		for _, s := range settings {
			section, _, ok := strings.Cut(s.Key, ".")
			last := s.Key[strings.LastIndexByte(s.Key, '.')+1:]
			if !ok || s.Key != strings.ToLower(s.Key) || !strings.Contains(low, section) || !strings.Contains(low, last) {
				t.Errorf("%q has the key %q", text, s.Key)
			}
			if s.Value != "true" {
				size += len(s.Value)
			}
		}
		if size > len(text) || len(settings) > len(text) {
			t.Errorf("%q has more in it than it is long: %q", text, settings)
		}
		// What is written as a setting at the end is read there, or nothing is known.
		const more = "\n[core]\n\thooksPath = last\n"
		settings, errMore := content.GitSettings(text + more)
		if n := len(settings); err == nil && errMore == nil && (n == 0 ||
			settings[n-1] != content.GitSetting{Key: "core.hookspath", Value: "last"}) {
			t.Errorf("%q hides the setting behind it: %q", text, settings)
		}
	})
}
