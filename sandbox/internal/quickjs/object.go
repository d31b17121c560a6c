package quickjs

// Kind is what an object is by its internal slots, where JavaScript itself has no way to ask.
type Kind int32

// The kinds that printing and cloning values needs to tell apart.
const (
	KindOther Kind = iota
	KindProxy
	KindPromise
	KindError
	KindArguments
	KindMapIterator
	KindSetIterator
	KindGenerator
	KindWeakMap
	KindWeakSet
	KindModuleNamespace
)

// Kind tells what v is. Guest memory is hostile: it may claim that an object is of any kind.
func (in *Instance) Kind(v Value) Kind {
	if v.tag() != tagObject {
		return KindOther
	}
	class, _ := in.mod.Memory().ReadUint16Le(uint32(v) + objClass)
	return kinds[class]
}

// kinds are the engine's classes (JS_CLASS_…).
var kinds = map[uint16]Kind{
	3: KindError, 8: KindArguments, 9: KindArguments, 11: KindModuleNamespace, 37: KindWeakMap, 38: KindWeakSet,
	43: KindMapIterator, 44: KindSetIterator, 48: KindGenerator, 49: KindProxy, 50: KindPromise, 58: KindGenerator,
}

// PromiseResult tells whether the promise v is pending (0), fulfilled (1) or rejected (2), and with what.
func (in *Instance) PromiseResult(v Value) (state uint32, result Value) {
	if in.Kind(v) != KindPromise {
		return 0, Undefined
	}
	memory := in.mod.Memory()
	data, _ := memory.ReadUint32Le(uint32(v) + objData)
	state, _ = memory.ReadUint32Le(data)
	raw, _ := memory.ReadUint64Le(data + promiseResult)
	return state, in.duplicate(Value(raw))
}

// ProxyParts gives the target and the handler of the proxy v; both are Null when it was revoked.
func (in *Instance) ProxyParts(v Value) (target, handler Value) {
	if in.Kind(v) != KindProxy {
		return Null, Null
	}
	memory := in.mod.Memory()
	data, _ := memory.ReadUint32Le(uint32(v) + objData)
	if revoked, _ := memory.ReadByte(data + proxyRevoked); revoked != 0 {
		return Null, Null
	}
	t, _ := memory.ReadUint64Le(data)
	h, _ := memory.ReadUint64Le(data + 8)
	return in.duplicate(Value(t)), in.duplicate(Value(h))
}

// IteratorParts gives what an iterator of a map or set goes through, whether it gives keys (0), values (1) or both (2), and how
// many it has given. An iterator that has come to its end goes through Undefined.
func (in *Instance) IteratorParts(v Value) (of Value, gives, given int32) {
	if k := in.Kind(v); k != KindMapIterator && k != KindSetIterator {
		return Undefined, 0, 0
	}
	memory := in.mod.Memory()
	read := func(at uint32) uint32 {
		n, _ := memory.ReadUint32Le(at)
		return n
	}
	data := read(uint32(v) + objData)
	raw, _ := memory.ReadUint64Le(data)
	if Value(raw).tag() != tagObject {
		return Undefined, 0, 0
	}
	if last := read(data + iteratorRecord); last != 0 {
		link := read(read(uint32(raw)+objData) + mapRecords + listNext)
		for range maxRecords {
			record := link - recordLink
			if empty, _ := memory.ReadByte(record + recordEmpty); empty == 0 {
				given++
			}
			if record == last {
				break
			}
			link = read(link + listNext)
		}
	}
	return in.duplicate(Value(raw)), int32(read(data + iteratorKind)), given
}

// maxRecords bounds how many members of a map are looked at: what links them is guest memory.
const maxRecords = 1 << 20

// duplicate counts one more reference to v, which is to be handed to the guest. A value that is none is Undefined: what
// is not a reference holds no address, and a forged address only damages the guest's own memory.
func (in *Instance) duplicate(v Value) Value {
	if int32(v.tag()) >= 0 || v.tag() < firstReference {
		return v
	}
	memory := in.mod.Memory()
	n, ok := memory.ReadUint32Le(uint32(v))
	if !ok {
		return Undefined
	}
	memory.WriteUint32Le(uint32(v), n+1)
	return v
}
