package display

import (
	"os"
	"path/filepath"
	"strings"
)

// sudoFinds are the folders in which sudo looks for a program wherever it has a secure_path.
// What lies in ~/bin or ~/go/bin sudo does not find by its name.
var sudoFinds = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// AsRoot is "sudo approver" and what follows it, such as unfreeze, as root can type it: with
// the full path of this program where sudo would not find it by its name.
func AsRoot(words string) string {
	self, err := os.Executable()
	if err != nil {
		self = ""
	}
	return "sudo " + sudoName(self, sudoFinds) + " " + words
}

// sudoName is how sudo is told which program is meant. One that is not called approver is a
// test, and that of go run is gone when it ends: both say nothing of where approver lies.
func sudoName(self string, folders []string) string {
	const name = "approver"
	if filepath.Base(self) != name || !filepath.IsAbs(self) || strings.Contains(self, "/go-build") {
		return name
	}
	mine, err := os.Stat(self)
	for _, dir := range folders {
		found, lookErr := os.Stat(filepath.Join(dir, name))
		if filepath.Dir(self) == dir || err == nil && lookErr == nil && os.SameFile(mine, found) {
			return name
		}
	}
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@", r)
	}
	if strings.TrimFunc(self, plain) == "" {
		return self
	}
	return "'" + strings.ReplaceAll(self, "'", `'\''`) + "'"
}
