package tokens

import "testing"

func TestMask(t *testing.T) {
	for in, want := range map[string]string{
		"":                                 "",
		"nothing here":                     "nothing here",
		"CONFIRM-7KQ4MX":                   "CONFIRM-******",
		"/approve confirm-7kq4mx now":      "/approve confirm-****** now",
		"a CONFIRM-7KQ4MX, CONFIRM-ACDEFG": "a CONFIRM-******, CONFIRM-******",
		"confirm 7kq4mx":                   "confirm ******",
		"CONFIRM—7KQ4MX":                   "CONFIRM—******", // em dash
		"CONFIRM\u20117KQ4MX":              "CONFIRM\u2011******",
		"xCONFIRM-7KQ4MX":                  "xCONFIRM-******",
		"CONFIRM-7KQ4MX_log":               "CONFIRM-******_log",
		"CONFIRM-7KQ4MXhello":              "CONFIRM-******",
		"CONFIRM-7KQ4MXCONFIRM-7KQ4MX":     "CONFIRM-******CONFIRM-******",
		"CONFIRM-CONFIRM-7KQ4MX":           "CONFIRM-CONFIRM-******",
		"src/confirm-dialog.tsx":           "src/confirm-dialog.tsx",
		"confirm the deletion":             "confirm the deletion",
		"CONFIRM-12345":                    "CONFIRM-12345", // too short for a code
		"confirm":                          "confirm",
		"confirm-":                         "confirm-",
		"\xffCONFIRM-7KQ4MX\xff":           "\xffCONFIRM-******\xff",
	} {
		if got := Mask(in); got != want {
			t.Errorf("Mask(%q) = %q, want %q", in, got, want)
		}
	}
}
