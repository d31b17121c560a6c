package quickjs

// Kind is what an object is by its internal slots, which JavaScript cannot read.
type Kind int32

// The kinds that the library needs to tell apart, such as to print and clone values.
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
	KindPlain // made by {} or a class, without further internal slots
	KindArray
	KindDate
	KindMap
	KindSet
	KindRegExp
	KindArrayBuffer
	KindSharedArrayBuffer
	KindNumber // an object around a number, and so on
	KindString
	KindBoolean
	KindBigInt
	KindSymbol
	KindWeakRef
)

// Kind returns what v is. Guest memory is hostile: it may claim that an object is of any kind.
func (in *heap) Kind(v Value) Kind {
	if v.tag() != tagObject {
		return KindOther
	}
	class, _ := in.mod.Memory().ReadUint16Le(uint32(v) + objClass)
	return in.image.learned.Kinds[class]
}

// PromiseResult returns whether the promise v is pending (0), fulfilled (1) or rejected (2), and with what.
func (in *heap) PromiseResult(v Value) (state uint32, result Value) {
	if in.Kind(v) != KindPromise {
		return 0, Undefined
	}
	memory := in.mod.Memory()
	data, _ := memory.ReadUint32Le(uint32(v) + objData)
	state, _ = memory.ReadUint32Le(data)
	raw, _ := memory.ReadUint64Le(data + promiseResult)
	return state, in.duplicate(Value(raw))
}

// ProxyParts returns the target and the handler of the proxy v. Both are Null if it was revoked.
func (in *heap) ProxyParts(v Value) (target, handler Value) {
	if in.Kind(v) != KindProxy {
		return Null, Null
	}
	memory := in.mod.Memory()
	data, _ := memory.ReadUint32Le(uint32(v) + objData)
	if revoked, _ := memory.ReadByte(data + proxyRevoked); revoked != 0 {
		return Null, Null
	}
	t, _ := memory.ReadUint64Le(data)
	h, _ := memory.ReadUint64Le(data + proxyHandler)
	return in.duplicate(Value(t)), in.duplicate(Value(h))
}

// IteratorParts returns the map or set of an iterator, whether the iterator returns keys (0), values (1) or both (2),
// and how many entries it has returned. The map of an exhausted iterator is Undefined. work is called before every
// recordsAtOnce records; its error ends the walk.
func (in *heap) IteratorParts(v Value, work func(records int) error) (of Value, gives, given int32, err error) {
	if k := in.Kind(v); k != KindMapIterator && k != KindSetIterator {
		return Undefined, 0, 0, nil
	}
	memory := in.mod.Memory()
	read := func(at uint32) uint32 {
		n, _ := memory.ReadUint32Le(at)
		return n
	}
	data := read(uint32(v) + objData)
	raw, _ := memory.ReadUint64Le(data)
	if Value(raw).tag() != tagObject {
		return Undefined, 0, 0, nil
	}
	if last := read(data + iteratorRecord); last != 0 {
		link := read(read(uint32(raw)+objData) + mapRecords + listNext)
		for i := range maxRecords {
			if i%recordsAtOnce == 0 {
				if err := work(recordsAtOnce); err != nil {
					return Undefined, 0, 0, err
				}
			}
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
	return in.duplicate(Value(raw)), int32(read(data + iteratorKind)), given, nil
}

const (
	// maxRecords bounds how many members of a map are looked at: what links them is guest memory.
	maxRecords    = 1 << 20
	recordsAtOnce = 4096
)

// duplicate counts one more reference to v, which goes to the guest. It returns Undefined for a reference that lies
// outside memory. A forged address damages only the guest's own memory.
func (in *heap) duplicate(v Value) Value {
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

// Retain keeps v from being freed until Release.
func (in *heap) Retain(v Value) { in.duplicate(v) }

// Release ends what Retain began. Something else must still refer to v.
func (in *heap) Release(v Value) {
	memory := in.mod.Memory()
	if n, ok := memory.ReadUint32Le(uint32(v)); ok && n > 1 {
		memory.WriteUint32Le(uint32(v), n-1)
	}
}
