// pipeTo, tee, from and async iteration.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const { streams } = internal;
  const { asyncIterator, iterator } = internal.symbols;
  const { after, deferred, handled } = streams;

  streams.pipeOptions = (options) => {
    const o = internal.dictionary(options, 'the options of a pipe');
    const preventAbort = !!o.preventAbort, preventCancel = !!o.preventCancel, preventClose = !!o.preventClose;
    const { signal } = o;
    if (signal !== undefined) internal.abort.check(signal, 'options.signal');
    return { __proto__: null, preventAbort, preventCancel, preventClose, signal };
  };

  const all = (promises) => {
    const d = deferred();
    let left = promises.length;
    if (left === 0) d.resolve(undefined);
    for (let i = 0; i < promises.length; i++) after(promises[i], () => { if (--left === 0) d.resolve(undefined); }, (e) => { d.reject(e); });
    return d.promise;
  };

  // pipe writes the chunks of source to dest until either ends. The guest cannot access the reader and the writer.
  streams.pipe = (source, dest, how) => {
    const reader = streams.acquire(source), writer = streams.acquireWriter(dest);
    source.disturbed = true;
    const done = deferred();
    let shuttingDown = false, lastWrite = streams.promise(undefined), unsubscribe = null;

    const finalize = (failed, e) => {
      streams.releaseWriter(writer);
      streams.unlock(reader);
      if (unsubscribe !== null) unsubscribe();
      if (failed) done.reject(e);
      else done.resolve(undefined);
    };
    // waitForWrites waits until every chunk that was read has been written.
    const waitForWrites = () => {
      const last = lastWrite;
      return p.promiseThen(last, () => last === lastWrite ? undefined : waitForWrites());
    };
    const shutdown = (action, failed, e) => {
      if (shuttingDown) return;
      shuttingDown = true;
      const act = () => {
        if (action === null) finalize(failed, e);
        else after(action(), () => { finalize(failed, e); }, (worse) => { finalize(true, worse); });
      };
      if (dest.state === 'writable' && !streams.closingWritable(dest)) after(waitForWrites(), act, act);
      else act();
    };
    if (how.signal !== undefined) {
      const onAbort = () => {
        const e = internal.abort.reason(how.signal);
        shutdown(() => {
          const actions = [];
          if (!how.preventAbort) p.arrayPush(actions, dest.state === 'writable' ? streams.abortWritable(dest, e) : streams.promise(undefined));
          if (!how.preventCancel) p.arrayPush(actions, source.state === 'readable' ? streams.cancel(source, e) : streams.promise(undefined));
          return all(actions);
        }, true, e);
      };
      if (internal.abort.aborted(how.signal)) {
        onAbort();
        return done.promise;
      }
      unsubscribe = internal.abort.add(how.signal, onAbort);
    }

    const sourceErrored = (e) => { shutdown(how.preventAbort ? null : () => streams.abortWritable(dest, e), true, e); };
    const destErrored = (e) => { shutdown(how.preventCancel ? null : () => streams.cancel(source, e), true, e); };
    const sourceClosed = () => { shutdown(how.preventClose ? null : () => streams.closeQuietly(dest), false); };
    // States that are already final are handled first, in the order of the standard.
    if (source.state === 'errored') sourceErrored(source.error);
    else after(reader.closed.promise, streams.nothing, sourceErrored);
    if (dest.state === 'errored') destErrored(dest.error);
    else after(writer.closed.promise, streams.nothing, destErrored);
    if (source.state === 'closed') sourceClosed();
    else after(reader.closed.promise, sourceClosed, streams.nothing);
    if (streams.closingWritable(dest) || dest.state === 'closed') {
      const e = new p.TypeError('the destination closed before everything was piped to it');
      shutdown(how.preventCancel ? null : () => streams.cancel(source, e), true, e);
    }

    const step = () => {
      if (shuttingDown) return;
      after(writer.ready.promise, () => {
        if (shuttingDown) return;
        streams.read(reader, {
          __proto__: null,
          chunk: (value) => {
            const write = p.promiseThen(streams.promise(undefined), () => {
              const written = streams.write(writer, value);
              handled(written);
              return written;
            });
            lastWrite = p.promiseThen(write, undefined, streams.nothing);
            // The next read waits only for backpressure, not for this write.
            after(streams.promise(undefined), step);
          },
          close: streams.nothing,
          error: streams.nothing,
        });
      }, streams.nothing);
    };
    step();
    return done.promise;
  };

  // tee splits a stream into two. The branches of a byte stream are byte streams.
  streams.tee = (s) => s.controller.byte ? streams.teeBytes(s) : teeDefault(s, false);
  // teeForClone is tee with cloned chunks in the second branch.
  streams.teeForClone = (s) => s.controller.byte ? streams.teeBytes(s) : teeDefault(s, true);
  const teeDefault = (s, cloneSecond) => {
    const reader = streams.acquire(s);
    let reading = false, again = false, settled = false;
    const branches = [streams.create(), streams.create()];
    const canceled = [false, false], reasons = [undefined, undefined], cancel = deferred();
    const pull = () => {
      if (reading) {
        again = true;
        return streams.promise(undefined);
      }
      reading = true;
      streams.read(reader, {
        __proto__: null,
        chunk: (chunk) => {
          after(streams.promise(undefined), () => {
            again = false;
            for (let i = 0; i < 2; i++) {
              if (canceled[i]) continue;
              try {
                streams.enqueue(branches[i].controller, i === 1 && cloneSecond ? internal.clone(chunk) : chunk);
              } catch (e) {
                if (!streams.open(branches[i].controller)) continue; // the branch is already errored
                for (let j = 0; j < 2; j++) streams.errorDefault(branches[j].controller, e);
                settle(streams.cancel(s, e));
                return;
              }
            }
            reading = false;
            if (again) pull();
          });
        },
        close: () => {
          reading = false;
          for (let i = 0; i < 2; i++) if (!canceled[i]) streams.closeDefault(branches[i].controller);
          if (!settled && (!canceled[0] || !canceled[1])) settle(undefined);
        },
        error: () => { reading = false; },
      });
      return streams.promise(undefined);
    };
    const settle = (v) => {
      settled = true;
      cancel.resolve(v);
    };
    const cancelBranch = (i) => (reason) => {
      canceled[i] = true;
      reasons[i] = reason;
      if (canceled[1 - i]) settle(streams.cancel(s, [reasons[0], reasons[1]]));
      return cancel.promise;
    };
    for (let i = 0; i < 2; i++) streams.setUp(branches[i], streams.nothing, pull, cancelBranch(i), 1, () => 1);
    after(reader.closed.promise, streams.nothing, (e) => {
      for (let i = 0; i < 2; i++) streams.errorDefault(branches[i].controller, e);
      if (!canceled[0] || !canceled[1]) settle(undefined);
    });
    return [branches[0].object, branches[1].object];
  };

  // from returns a stream over an iterable. It looks up the iterator method as the language does.
  streams.from = (iterable) => {
    let method, sync = false;
    if (!internal.isObject(iterable) && typeof iterable !== 'string') throw internal.nodeError(p.TypeError, 'ERR_ARG_NOT_ITERABLE', `${internal.inspect(iterable)} must be iterable`);
    method = iterable[asyncIterator];
    if (method === undefined || method === null) {
      method = iterable[iterator];
      sync = true;
    }
    if (typeof method !== 'function') throw internal.nodeError(p.TypeError, 'ERR_ARG_NOT_ITERABLE', `${internal.inspect(iterable)} must be iterable`);
    const it = p.apply(method, iterable, []);
    if (!internal.isObject(it)) throw new p.TypeError('ReadableStream.from: the iterator is not an object');
    const { next } = it;
    const s = streams.create();
    const unwrap = (result, what) => {
      if (!internal.isObject(result)) throw new p.TypeError(`ReadableStream.from: ${what} did not return an object`);
      return result;
    };
    const pull = () => p.promiseThen(streams.call(next, it, []), (result) => {
      const done = !!unwrap(result, 'next').done;
      if (done) {
        streams.closeDefault(s.controller);
        return undefined;
      }
      const { value } = result;
      if (!sync) {
        streams.enqueue(s.controller, value);
        return undefined;
      }
      return p.promiseThen(streams.promise(value), (v) => { streams.enqueue(s.controller, v); });
    });
    const cancel = (reason) => {
      let give;
      try {
        give = it.return;
        if (give === undefined || give === null) return streams.promise(undefined);
        if (typeof give !== 'function') throw new p.TypeError('return is not a function');
      } catch (e) { return p.promiseReject(e); }
      return p.promiseThen(streams.call(give, it, [reason]), (result) => {
        unwrap(result, 'return');
        return sync ? p.promiseThen(streams.promise(result.value), streams.nothing) : undefined;
      });
    };
    streams.setUp(s, streams.nothing, pull, cancel, 0, () => 1);
    return s.object;
  };

  // The async iterator of a stream runs the calls of its methods one after the other.
  const states = new p.WeakMap();
  const of = (it) => {
    const state = internal.isObject(it) ? p.weakMapGet(states, it) : undefined;
    if (state === undefined) throw new p.TypeError('not an async iterator of a ReadableStream');
    return state;
  };
  const chain = (state, step) => {
    const answer = state.ongoing === null ? step() : p.promiseThen(state.ongoing, step, step);
    state.ongoing = answer;
    // If no call is in progress, the next starts at once: leaving a for await loop does not wait for return.
    const over = () => { if (state.ongoing === answer) state.ongoing = null; };
    after(answer, over, over);
    return answer;
  };
  const prototype = p.create(p.getPrototypeOf(p.getPrototypeOf(async function* () {}.prototype)));
  const methods = {
    next() {
      let state;
      try { state = of(this); } catch (e) { return p.promiseReject(e); }
      return chain(state, () => {
        if (state.finished) return streams.promise({ value: undefined, done: true });
        const d = deferred();
        streams.read(state.reader, {
          __proto__: null,
          chunk: (value) => { d.resolve({ value, done: false }); },
          close: () => {
            state.finished = true;
            streams.unlock(state.reader);
            d.resolve({ value: undefined, done: true });
          },
          error: (e) => {
            state.finished = true;
            streams.unlock(state.reader);
            d.reject(e);
          },
        });
        return p.promiseThen(d.promise, (result) => result);
      });
    },
    return(value = undefined) {
      let state;
      try { state = of(this); } catch (e) { return p.promiseReject(e); }
      return chain(state, () => {
        if (state.finished) return streams.promise({ value, done: true });
        state.finished = true;
        const ended = state.preventCancel ? streams.promise(undefined) : streams.cancel(state.reader.stream, value);
        streams.unlock(state.reader);
        return p.promiseThen(ended, () => ({ value, done: true }));
      });
    },
  };
  for (const name of ['next', 'return']) p.defineProperty(prototype, name, internal.property(methods[name], true));
  p.defineProperty(methods.return, 'length', { __proto__: null, value: 1, configurable: true });
  streams.iterate = (s, preventCancel) => {
    const it = p.create(prototype);
    p.weakMapSet(states, it, { __proto__: null, reader: streams.acquire(s), preventCancel, ongoing: null, finished: false });
    return it;
  };
  return internal;
}
