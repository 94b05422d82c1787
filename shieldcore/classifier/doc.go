// Package classifier scores how much a text resembles a prompt injection: words in a
// text that try to give orders to the model that reads it. It is a linear model over
// hashed words, pairs of words and a small lexicon; its 256 KB of weights are part of
// the program. It reads no file and no network, and [Model.Score] allocates nothing.
//
// # What a score means
//
// A score is a reason to look closer. It never allows a call, and alone it never
// blocks one. [Model.Threshold] has two points: at [Default] about one in a thousand
// benign texts that agents read is above, at [Strict] one in a hundred. Like any model
// of words, it cannot detect a planted task that does not mention models, instructions
// or answers.
//
// # Windows
//
// The score of a text is that of its strongest window: any run of at most
// [Window] words. Text around a window cannot lower it, so an injection does not
// drown in a long page.
//
// # Failing closed
//
// [Load] checks the SHA-256 of the weights and the exact scores of a dozen texts. A
// [Model] that did not come from Load returns [ErrUnavailable]; its thresholds are 0,
// which every score reaches. A text beyond the limits is scored up to them and marked
// [Score.Truncated].
//
// The program in cmd/approver-classifier/train makes the weights and sums.go.
package classifier
