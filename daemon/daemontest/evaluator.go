package daemontest

import (
	"io"
	"net/http"

	"approver.example/shieldcore/evaluator/evaluatortest"
)

// WrongModel answers as providers do that do not know the model.
func WrongModel() evaluatortest.Behavior {
	return evaluatortest.Over("wrong model", "",
		func(_ *evaluatortest.Server, w http.ResponseWriter, _ *http.Request, _ evaluatortest.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"code":"model_not_found","message":"no such model"}}`)
		})
}
