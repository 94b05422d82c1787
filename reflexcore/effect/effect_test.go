package effect_test

import (
	"testing"

	"approver.example/reflexcore/effect"
)

func TestZeroIsTheLeastKnown(t *testing.T) {
	var e effect.Effect
	if e.Kind != effect.Opaque || e.String() != "opaque" || effect.Kind(200).String() != "opaque" {
		t.Errorf("the zero effect is %q", e)
	}
}

func TestEffectString(t *testing.T) {
	for want, e := range map[string]effect.Effect{
		"delete /tmp/…/x recursive+glob": {Kind: effect.Delete, Target: "/tmp/" + effect.Unknown + "/x",
			Bits: effect.Recursive | effect.Glob},
		"exec stdin from network": {Kind: effect.Exec, Target: "stdin", Taint: effect.Network},
	} {
		if got := e.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestKindText(t *testing.T) {
	for k := effect.Opaque; k <= effect.Attack; k++ {
		text, err := k.MarshalText()
		var back effect.Kind
		if err != nil || back.UnmarshalText(text) != nil || back != k {
			t.Errorf("%v does not come back: %q", k, text)
		}
	}
	k := effect.Read
	if k.UnmarshalText([]byte("erase")) == nil || k != effect.Opaque {
		t.Error("an unknown word is no error, or leaves something")
	}
}
