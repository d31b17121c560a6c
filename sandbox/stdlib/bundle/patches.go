package main

// A patch replaces a text that occurs once in a file of a package.
type patch struct{ file, before, after string }

// streamPatches give readable-stream 4.7.0, which is the code of Node 18, what Node 20 changed since.
var streamPatches = []patch{
	{"duplex.js", "let webStreamsAdapters\n", `Duplex.prototype.destroy = Writable.prototype.destroy
let webStreamsAdapters
`},
	{"pipeline.js", "finishImpl(new AbortError())",
		"finishImpl(new AbortError(undefined, { cause: outerSignal?.reason }))"},
	{
		"end-of-stream.js", "    (writableFinished || isWritable(stream) === false)\n",
		"    (writableFinished || isWritable(stream) === false) &&\n" +
			"    (wState == null || wState.pendingcb === undefined || wState.pendingcb === 0)\n",
	},
	{"transform.js", `    if (
      wState.ended ||
`, `    if (rState.ended) {
      process.nextTick(callback)
    } else if (
      wState.ended ||
`},
	// Values that are no promises are pushed at once.
	{
		"from.js", `      reading = true
      next()
`, `      reading = true
      if (isAsync) next()
      else nextSync()
`,
	},
	{"from.js", "  return readable\n}\nmodule.exports", `  function nextSync() {
    for (;;) {
      try {
        const { value, done } = iterator.next()
        if (done) readable.push(null)
        else if (value && typeof value.then === 'function') awaited(value)
        else if (value === null) {
          reading = false
          throw new ERR_STREAM_NULL_VALUES()
        } else if (readable.push(value)) continue
        else reading = false
      } catch (err) {
        readable.destroy(err)
      }
      break
    }
  }
  async function awaited(value) {
    try {
      const res = await value
      if (res === null) {
        reading = false
        throw new ERR_STREAM_NULL_VALUES()
      } else if (readable.push(res)) next()
      else reading = false
    } catch (err) {
      readable.destroy(err)
    }
  }
  return readable
}
module.exports`},
	// Every view of bytes is a chunk.
	{"readable.js", "Stream._isUint8Array(chunk)", "Stream._isArrayBufferView(chunk)"},
	{"readable.js", "['string', 'Buffer', 'Uint8Array'], chunk", "['string', 'Buffer', 'TypedArray', 'DataView'], chunk"},
	{"writable.js", "Stream._isUint8Array(chunk)", "Stream._isArrayBufferView(chunk)"},
	{"writable.js", "['string', 'Buffer', 'Uint8Array'], chunk", "['string', 'Buffer', 'TypedArray', 'DataView'], chunk"},
	{
		"stream.js", "Stream._isUint8Array = ", `Stream._isArrayBufferView = function isArrayBufferView(value) {
  return ArrayBuffer.isView(value)
}
Stream._isUint8Array = `,
	},
	// In object mode there is no default encoding.
	{"writable.js", `    encoding = state.defaultEncoding
  } else {
    if (!encoding) encoding = state.defaultEncoding
    else if (encoding !== 'buffer' && !Buffer.isEncoding(encoding)) throw new ERR_UNKNOWN_ENCODING(encoding)
    if (typeof cb !== 'function') cb = nop
  }
`, `    encoding = null
  }
  if (typeof cb !== 'function') cb = nop
`},
	{"writable.js", `  } else if (!state.objectMode) {
    if (typeof chunk`, `  } else if (!state.objectMode) {
    if (!encoding) encoding = state.defaultEncoding
    else if (encoding !== 'buffer' && !Buffer.isEncoding(encoding)) throw new ERR_UNKNOWN_ENCODING(encoding)
    if (typeof chunk`},
	// A write that is over at once leaves room.
	{
		"writable.js", `  const ret = state.length < state.highWaterMark
  // We must ensure that previous needDrain will not be reset to false.
  if (!ret) state.needDrain = true
`, "",
	},
	{"writable.js", `    stream._write(chunk, encoding, state.onwrite)
    state.sync = false
  }
`, `    stream._write(chunk, encoding, state.onwrite)
    state.sync = false
  }
  const ret = state.length < state.highWaterMark || state.length === 0
  if (!ret) state.needDrain = true
`},
	// A write that is over at once takes a tick only if something waits for it.
	{"writable.js", `    if (sync) {
      // It is a common case`, `    const needDrain = state.needDrain && state.length === 0
    if (sync && cb === nop && (state.afterWritePending || (!needDrain && !state.objectMode))) {
      state.pendingcb--
      if (state.ending) finishMaybe(stream, state, true)
    } else if (sync) {
      state.afterWritePending = true
      // It is a common case`},
	{"writable.js", "function afterWrite(stream, state, count, cb) {\n", `function afterWrite(stream, state, count, cb) {
  state.afterWritePending = false
`},
	{"writable.js", "  this.afterWriteTickInfo = null\n", `  this.afterWriteTickInfo = null
  this.afterWritePending = false
`},
	{"writable.js", `    state.pendingcb--
    cb()
`, `    state.pendingcb--
    cb(null)
`},
	{"writable.js", "  finishMaybe(stream, state)\n}", "  if (state.ending) finishMaybe(stream, state, true)\n}"},
	{"writable.js", "    onfinishCallbacks[i]()\n", "    onfinishCallbacks[i](null)\n"},
	{"writable.js", `    if (err || state.finished) {
      process.nextTick(cb, err)
`, `    if (err || state.finished) {
      process.nextTick(cb, err ?? null)
    } else if (state.errored) {
      process.nextTick(cb, state.errored)
`},
}
