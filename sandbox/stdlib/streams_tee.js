// tee of a byte stream. If a branch has a BYOB request, the next read fills that branch's buffer.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const { streams } = internal;
  const { after, deferred } = streams;

  const copyOf = (chunk) => {
    const copy = new p.Uint8Array(p.typedBytes(chunk));
    p.typedSet(copy, chunk);
    return copy;
  };

  streams.teeBytes = (s) => {
    let reader = streams.acquire(s);
    let reading = false, settled = false;
    const again = [false, false], canceled = [false, false], reasons = [undefined, undefined], cancel = deferred();
    const branches = [streams.create(), streams.create()];
    const settle = (v) => {
      if (settled) return;
      settled = true;
      cancel.resolve(v);
    };
    const watch = (current) => {
      after(current.closed.promise, streams.nothing, (e) => {
        if (current !== reader) return;
        for (let i = 0; i < 2; i++) streams.errorBytes(branches[i].controller, e);
        if (!canceled[0] || !canceled[1]) settle(undefined);
      });
    };
    const swap = (byob) => {
      if (reader.byob === byob) return;
      const old = reader;
      reader = undefined;
      streams.unlock(old);
      reader = streams.lock(s, undefined, byob);
      watch(reader);
    };
    const fail = (e) => {
      for (let i = 0; i < 2; i++) streams.errorBytes(branches[i].controller, e);
      settle(streams.cancel(s, e));
    };
    const goOn = () => {
      reading = false;
      if (again[0]) pull(0);
      else if (again[1]) pull(1);
    };

    const pullWithDefault = () => {
      swap(false);
      streams.read(reader, {
        __proto__: null,
        chunk: (chunk) => {
          after(streams.promise(undefined), () => {
            again[0] = again[1] = false;
            let second = chunk;
            if (!canceled[0] && !canceled[1]) {
              try { second = copyOf(chunk); } catch (e) {
                fail(e);
                return;
              }
            }
            if (!canceled[0]) streams.enqueueBytes(branches[0].controller, internal.span(chunk));
            if (!canceled[1]) streams.enqueueBytes(branches[1].controller, internal.span(second));
            goOn();
          });
        },
        close: () => {
          reading = false;
          for (let i = 0; i < 2; i++) if (!canceled[i]) streams.closeBytes(branches[i].controller);
          for (let i = 0; i < 2; i++) if (branches[i].controller.intos.length > 0) streams.respond(branches[i].controller, 0);
          if (!canceled[0] || !canceled[1]) settle(undefined);
        },
        error: () => { reading = false; },
      });
    };
    const pullWithView = (view, i) => {
      swap(true);
      const mine = branches[i].controller, other = branches[1 - i].controller;
      streams.readInto(reader, view, 1, {
        __proto__: null,
        chunk: (chunk) => {
          after(streams.promise(undefined), () => {
            again[0] = again[1] = false;
            if (!canceled[1 - i]) {
              let copy;
              try { copy = copyOf(chunk); } catch (e) {
                fail(e);
                return;
              }
              if (!canceled[i]) streams.respondWith(mine, internal.span(chunk));
              streams.enqueueBytes(other, internal.span(copy));
            } else if (!canceled[i]) streams.respondWith(mine, internal.span(chunk));
            goOn();
          });
        },
        close: (chunk) => {
          reading = false;
          if (!canceled[i]) streams.closeBytes(mine);
          if (!canceled[1 - i]) streams.closeBytes(other);
          if (chunk !== undefined) {
            if (!canceled[i]) streams.respondWith(mine, internal.span(chunk));
            if (!canceled[1 - i] && other.intos.length > 0) streams.respond(other, 0);
          }
          if (!canceled[0] || !canceled[1]) settle(undefined);
        },
        error: () => { reading = false; },
      });
    };
    const pull = (i) => {
      if (reading) {
        again[i] = true;
        return streams.promise(undefined);
      }
      reading = true;
      const request = streams.byobRequest(branches[i].controller);
      if (request === null) pullWithDefault();
      else pullWithView(request.view, i);
      return streams.promise(undefined);
    };
    for (let i = 0; i < 2; i++) {
      streams.setUpBytes(branches[i], streams.nothing, () => pull(i), (reason) => {
        canceled[i] = true;
        reasons[i] = reason;
        if (canceled[1 - i]) settle(streams.cancel(s, [reasons[0], reasons[1]]));
        return cancel.promise;
      }, 0, undefined);
    }
    watch(reader);
    return [branches[0].object, branches[1].object];
  };
  return internal;
}
