// Package classifier tells how much a text resembles an injection: words that
// try to give orders to a model from within what it reads. It is a linear model
// over hashed words, pairs of words and a small lexicon; its 256 KB of weights
// are part of the program. It reads no file and no network, and [Model.Score]
// allocates nothing.
//
// # What a score means
//
// A score is a reason to look closer, never one to allow and never alone one to
// block. [Model.Threshold] has two points: at [Default] about one in a thousand
// benign texts that agents read is above, at [Strict] one in a hundred. What the
// model is blind to, as any that looks at words is: a task that is planted
// without a word about models, instructions or answers.
//
// # Windows
//
// The score of a text is that of its strongest window: any run of at most
// [Window] words. Text around a window cannot lower it, so an injection does not
// drown in a long page.
//
// # Closed at every seam
//
// [Load] checks the SHA-256 of the weights and the scores of a dozen texts, to the
// last bit. A [Model] that did not come from Load answers [ErrUnavailable]; its
// thresholds are 0, which every score reaches. A text beyond the limits is
// scored up to them and marked [Score.Truncated].
//
// The weights are made by the program in cmd/approver-classifier/train, and so is sums.go.
package classifier
