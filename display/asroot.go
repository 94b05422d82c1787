package display

import (
	"os"
	"path/filepath"
	"strings"
)

// securePath lists the folders in which sudo looks for programs if secure_path is set. It does
// not find a program in ~/bin or ~/go/bin by its name.
var securePath = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// AsRoot returns the command line "sudo approver" followed by words, such as unfreeze. It uses
// the full path of this program if sudo would not find it by its name.
func AsRoot(words string) string {
	self, err := os.Executable()
	if err != nil {
		self = ""
	}
	return "sudo " + sudoName(self, securePath) + " " + words
}

// sudoName returns the name or the path by which sudo finds the program at the path self. If
// self has another name it is a test, and go run deletes its program at the end. Those paths do
// not say where approver is installed, so sudoName returns the bare name for them.
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
