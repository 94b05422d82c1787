package effect

import "strings"

// movers take a file away from where it was.
var movers = map[string]bool{
	"mv": true, "gmv": true, "git mv": true, "rename": true, "rsync": true,
	"os.replace": true, "path.replace": true, "FileUtils.mv": true, "install": false,
}

// Moves reports whether what does the effect moves files.
func Moves(e *Effect) bool {
	return movers[e.By] || strings.Contains(e.By, "rename") || strings.Contains(e.By, "move")
}

// Links reports whether what is read gets another name.
func Links(ef *Effect) bool {
	if ef.What == "link" {
		return true
	}
	name := ef.By[strings.LastIndexAny(ef.By, ".:>")+1:]
	switch strings.TrimSuffix(strings.ToLower(name), "sync") {
	case "symlink", "link", "symlink_to", "hardlink_to", "link_to", "ln", "ln_s", "ln_sf":
		return true
	}
	return false
}

// MakesFolder reports whether an effect is that a folder is made.
func MakesFolder(ef *Effect) bool { return ef.By == "mkdir" || ef.By == "install -d" }
