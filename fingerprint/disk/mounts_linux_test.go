package disk

import "testing"

// An overlay that is mounted volatile ignores syncfs, so that a write through a mapping showed
// nowhere.
func TestVolatileOverlaysDoNotSync(t *testing.T) {
	for mounts, want := range map[string]bool{
		"31 24 0:27 / /srv rw,relatime shared:1 - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w\n":          true,
		"31 24 0:27 / /srv rw,relatime shared:1 - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w,volatile\n": false,
		"31 24 0:27 / /srv rw - overlay overlay rw,upperdir=/volatile\n":                                            true,
		// another device
		"31 24 0:28 / /srv rw - overlay overlay rw\n": false,
		"31 24 0:27 / /srv rw\n":                      false,
		"":                                            false,
		"31 24 0:27 / /a rw - overlay o rw\n32 24 0:27 / /b rw - overlay o rw,volatile\n": false,
	} {
		if got := syncs(mounts, "0:27"); got != want {
			t.Errorf("%q: %v", mounts, got)
		}
	}
}
