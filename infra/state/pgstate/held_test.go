package pgstate

import "testing"

// A process lets go of one claim of a job when it has another already: the job was queued and claimed again meanwhile.
func TestLetGo(t *testing.T) {
	t.Parallel()
	h := held{claims: map[string]*claimed{}, byID: map[string]*claimed{}}
	for _, token := range []string{"before", "now"} {
		h.begin(token)
		h.hold(token, &jobRow{id: []byte("exec_0000000001"), claim: token})
	}
	h.letGo("before")
	if h.has("before") || !h.has("now") {
		t.Errorf("it holds %v", h.tokens())
	}
}
