package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	ort "github.com/yalue/onnxruntime_go"
)

// defaultLibrary is the name under which the system finds the library.
func defaultLibrary() string {
	switch runtime.GOOS {
	case "darwin":
		return "libonnxruntime.dylib"
	case "windows":
		return "onnxruntime.dll"
	}
	return "libonnxruntime.so.1"
}

// A runner computes a sequence-classification model with onnxruntime.
type runner struct {
	session *ort.DynamicAdvancedSession
	inputs  []string
}

// The inputs that models of the BERT and DeBERTa families have.
const (
	inputIDs  = "input_ids"
	inputMask = "attention_mask"
	inputType = "token_type_ids"
)

// newRunner loads the library and a model from memory, and returns the library's name and
// version.
func newRunner(model []byte, library string, threads int) (*runner, string, error) {
	if err := loadLibrary(library); err != nil {
		return nil, "", err
	}
	inputs, outputs, err := ort.GetInputOutputInfoWithONNXData(model)
	if err != nil {
		return nil, "", fmt.Errorf("model.onnx: %w", err)
	}
	names, output, err := check(inputs, outputs)
	if err != nil {
		return nil, "", fmt.Errorf("model.onnx: %w", err)
	}
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = options.Destroy() }() // of options that the session has copied
	if err := errors.Join(options.SetIntraOpNumThreads(threads), options.SetInterOpNumThreads(1)); err != nil {
		return nil, "", err
	}
	session, err := ort.NewDynamicAdvancedSessionWithONNXData(model, names, []string{output}, options)
	if err != nil {
		return nil, "", fmt.Errorf("model.onnx: %w", err)
	}
	return &runner{session, names}, "onnxruntime " + ort.GetVersion(), nil
}

// loadLibrary loads the library; a second time it does nothing.
func loadLibrary(library string) error {
	if ort.IsInitialized() {
		return nil
	}
	ort.SetSharedLibraryPath(library)
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		return fmt.Errorf("libonnxruntime cannot be loaded: name it with --library (library in the sidecar's "+
			"configuration): %w", err)
	}
	return ort.DisableTelemetry()
}

// check returns the inputs and the output of a model to use. An error means that it is no
// sequence classifier.
func check(inputs, outputs []ort.InputOutputInfo) (names []string, output string, err error) {
	for _, in := range inputs {
		if !slices.Contains([]string{inputIDs, inputMask, inputType}, in.Name) ||
			in.DataType != ort.TensorElementDataTypeInt64 || len(in.Dimensions) != 2 {
			return nil, "", fmt.Errorf("its input %s is not known: %s, %s and %s are, as int64 with two dimensions",
				in.String(), inputIDs, inputMask, inputType)
		}
		names = append(names, in.Name)
	}
	if !slices.Contains(names, inputIDs) {
		return nil, "", fmt.Errorf("it has no input %s, only %s", inputIDs, strings.Join(names, ", "))
	}
	for _, out := range outputs {
		if out.Name == "logits" && out.DataType == ort.TensorElementDataTypeFloat && len(out.Dimensions) == 2 {
			return names, out.Name, nil
		}
	}
	return nil, "",
		errors.New("it has no output logits, as float with two dimensions: export it for sequence classification")
}

// Logits computes one sequence.
func (r *runner) Logits(ids []int) ([]float32, error) {
	shape := ort.NewShape(1, int64(len(ids)))
	var inputs []ort.Value
	defer func() {
		for _, v := range inputs {
			_ = v.Destroy() // frees memory; there is nothing to do about an error
		}
	}()
	for _, name := range r.inputs {
		data := make([]int64, len(ids)) // zeros: the one segment of token_type_ids
		for i, id := range ids {
			switch name {
			case inputIDs:
				data[i] = int64(id)
			case inputMask:
				data[i] = 1
			}
		}
		t, err := ort.NewTensor(shape, data)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, t)
	}
	outputs := []ort.Value{nil}
	if err := r.session.Run(inputs, outputs); err != nil {
		return nil, err
	}
	defer func() { _ = outputs[0].Destroy() }() // as above
	logits, ok := outputs[0].(*ort.Tensor[float32])
	if !ok {
		return nil, errors.New("the model's output is not of floats")
	}
	if s := logits.GetShape(); len(s) != 2 || s[0] != 1 {
		return nil, fmt.Errorf("the model's output has the shape %v", s)
	}
	return slices.Clone(logits.GetData()), nil
}
