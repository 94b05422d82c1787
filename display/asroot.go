package display

import (
	"os"
	"path/filepath"
	"strings"
)

// securePath are the folders in which sudo searches programs if a secure_path is set. It finds
// no program in ~/bin or ~/go/bin by its name.
var securePath = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// AsRoot is the command line "sudo approver" with more words, such as unfreeze. It has the full
// path of this program if sudo would not find it by its name.
func AsRoot(words string) string {
	self, err := os.Executable()
	if err != nil {
		self = ""
	}
	return "sudo " + sudoName(self, securePath) + " " + words
}

// sudoName is the name or the path by which sudo finds the program at the path self. A program
// with another name is a test, and go run removes its program at the end: their paths do not
// say where approver is installed.
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
