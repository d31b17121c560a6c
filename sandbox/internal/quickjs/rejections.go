package quickjs

// The engine tells of each promise that is rejected while nobody handles it, and of each whose rejection is handled later, by an
// indirect call for which this build has no function. A function that is added stands for it:
//
//	track(ctx, promise, reason, handled, opaque): hostCall(ctx, promise, handled | tracked, null)

// tracked is set in the argument count of a host call that is made by track.
const tracked = 1 << 30

// trackType is the type of the indirect call.
var trackType = string([]byte{5, typeI32, typeI64, typeI64, typeI32, typeI32, 0})

// callTrack stands for the indirect call, with its arguments and the table's index on the stack.
func (p positions) callTrack() []byte { return appendUint([]byte{opDrop, opCall}, p.first+addedTrack) }

// trackBody is the code of addedTrack.
func trackBody() []byte {
	code := []byte{0, opLocalGet, 0, opLocalGet, 1, opLocalGet, 3}
	code = appendInt(append(code, opI32Const), tracked)
	return append(code, opI32Or, opI32Const, 0, opCall, importHostCall, opDrop, opEnd)
}

// Retain keeps v from being freed until Release.
func (in *Instance) Retain(v Value) { in.duplicate(v) }

// Release ends what Retain began. Somebody else still refers to v.
func (in *Instance) Release(v Value) {
	memory := in.mod.Memory()
	if n, ok := memory.ReadUint32Le(uint32(v)); ok && n > 1 {
		memory.WriteUint32Le(uint32(v), n-1)
	}
}
