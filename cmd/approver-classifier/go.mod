// A module of its own: the program needs cgo and onnxruntime, and nothing else
// of this project may.
module approver.example/cmd/approver-classifier

go 1.26.0

require (
	approver.example v0.0.0
	github.com/yalue/onnxruntime_go v1.27.0
)

require (
	github.com/google/uuid v1.6.0 // indirect
	github.com/gowebpki/jcs v1.0.2 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace approver.example => ../..
