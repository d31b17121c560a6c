package execution

import "fmt"

// RunDuePayload returns the payload that tells the function for jobs about a stored job: {"airlock": 1, "turn": {"job":
// id}}.
func RunDuePayload(job string) []byte {
	return fmt.Appendf(nil, `{"airlock":%d,"turn":{"job":%q}}`, InvocationVersion, job)
}

type wireRunDue struct {
	Airlock int `json:"airlock"`
	Turn    struct {
		Job string `json:"job"`
	} `json:"turn"`
}

// DecodeRunDue reads what [RunDuePayload] wrote. is reports whether b is such a payload. If it is an invalid one, the
// error is an *[Error] with code [InvalidRequest].
func DecodeRunDue(b []byte) (job string, is bool, err error) {
	if len(b) > 1024 || !hasMember(b, "airlock") || !hasMember(b, "turn") {
		return "", false, nil
	}
	var w wireRunDue
	duplicates, err := precheck(b)
	if err != nil {
		return "", true, err
	}
	if err := decodeStrict(b, &w, duplicates); err != nil {
		return "", true, invalid("turn", "must be {job} and the only member besides airlock")
	}
	switch {
	case w.Airlock != InvocationVersion:
		return "", true, invalid("airlock", "must be %d, the version of the envelope this build understands; got %d",
			InvocationVersion, w.Airlock)
	case !ValidID(w.Turn.Job):
		return "", true, invalid("turn.job", `must be "exec_" and 10 to 64 letters or digits`)
	}
	return w.Turn.Job, true, nil
}
