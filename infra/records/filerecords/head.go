package filerecords

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/airlock-run/airlock/policy/audit"
)

// The file of an open writer holds two slots that are written in turn, so that one of them is always complete.
const (
	slotBytes = 1024
	headBytes = 2 * slotBytes
)

// A head is the state of one writer. While done is false, record Seq is announced and may not exist; the writer's
// last certain record is then Seq-1 with hash Prev.
type head struct {
	Rev    int64  `json:"rev"`
	Writer string `json:"writer"`
	Seq    int64  `json:"seq"`
	Hash   string `json:"hash"`
	Prev   string `json:"prev"`
	ID     string `json:"id"`
	Day    string `json:"day"`
	// At is a length of the day's file that was certainly reached before the line was written.
	At   int64 `json:"at"`
	Done bool  `json:"done"`
}

// certain returns the newest record that certainly exists, and its ID if the head has it.
func (h head) certain() (last audit.Head, id string) {
	if h.Done || h.Seq == 0 {
		return audit.Head{Writer: h.Writer, Seq: h.Seq, Hash: h.Hash}, h.ID
	}
	return audit.Head{Writer: h.Writer, Seq: h.Seq - 1, Hash: h.Prev}, ""
}

// appendSlot appends h as one slot: JSON, its sum, padding and a line end.
func appendSlot(b []byte, h head, key []byte) []byte {
	start := len(b)
	b = append(b, `{"rev":`...)
	b = strconv.AppendInt(b, h.Rev, 10)
	b = append(b, `,"writer":"`...)
	b = append(b, h.Writer...)
	b = append(b, `","seq":`...)
	b = strconv.AppendInt(b, h.Seq, 10)
	b = append(b, `,"hash":"`...)
	b = append(b, h.Hash...)
	b = append(b, `","prev":"`...)
	b = append(b, h.Prev...)
	b = append(b, `","id":"`...)
	b = append(b, h.ID...)
	b = append(b, `","day":"`...)
	b = append(b, h.Day...)
	b = append(b, `","at":`...)
	b = strconv.AppendInt(b, h.At, 10)
	b = append(b, `,"done":`...)
	b = strconv.AppendBool(b, h.Done)
	b = audit.AppendSum(b, start, key)
	for len(b)-start < slotBytes-1 {
		b = append(b, ' ')
	}
	return append(b, '\n')
}

// readHead returns the newer complete slot.
func readHead(b, key []byte) (head, error) {
	var newest head
	found := false
	for len(b) >= slotBytes {
		slot := bytes.TrimRight(b[:slotBytes], " \n")
		b = b[slotBytes:]
		var h head
		if audit.CheckSum(slot, key) == nil && json.Unmarshal(slot, &h) == nil && (!found || h.Rev > newest.Rev) {
			newest, found = h, true
		}
	}
	if !found {
		return head{}, errors.New("the head file holds no whole slot")
	}
	return newest, nil
}
