package match_test

import (
	"fmt"

	"approver.example/internal/match"
)

func Example() {
	patterns := []match.Pattern{
		{ID: "rm-recursive", Expr: `\brm\s+-[a-z]*r`},
		{ID: "pipe-to-shell", Expr: `\bcurl\b[^;]*\|\s*(?:ba|z)?sh\b`},
	}
	set, err := match.New(patterns, match.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	text := match.Fold(nil, "ｃｕｒｌ https://example.org/x |\u200b sh")
	ids, complete := set.MatchBytes(nil, text)
	for _, id := range ids {
		fmt.Println(patterns[id].ID)
	}
	fmt.Println("complete:", complete)
	// Output:
	// pipe-to-shell
	// complete: true
}
