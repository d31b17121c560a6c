// Formats platform objects for inspect by the attributes that Node shows.
(host, internal) => {
  'use strict';
  const { p, inspecting } = internal;
  const { streams } = internal;
  const shown = new p.Map(); // prototype → attribute names, or a function that returns an object to show

  const show = (name, what) => { p.mapSet(shown, globalThis[name].prototype, what); };
  show('URL', ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'searchParams', 'hash']);
  show('URLPattern', ['protocol', 'username', 'password', 'hostname', 'port', 'pathname', 'search', 'hash']);
  show('Response', ['status', 'statusText', 'headers', 'body', 'bodyUsed', 'ok', 'redirected', 'type', 'url']);
  show('Request', ['method', 'url', 'headers', 'destination', 'referrer', 'referrerPolicy', 'mode', 'credentials', 'cache', 'redirect', 'integrity', 'keepalive', 'isReloadNavigation', 'isHistoryNavigation', 'signal']);
  show('Blob', ['size', 'type']);
  show('File', ['size', 'type', 'name', 'lastModified']);
  show('AbortController', ['signal']);
  show('AbortSignal', ['aborted']);
  show('Event', ['type', 'defaultPrevented', 'cancelable', 'timeStamp']);
  show('TextDecoder', ['encoding', 'fatal', 'ignoreBOM']);
  show('TextEncoder', ['encoding']);
  show('TransformStream', ['readable', 'writable']);
  show('CompressionStream', ['readable', 'writable']);
  show('DecompressionStream', ['readable', 'writable']);
  show('TextDecoderStream', ['encoding', 'fatal', 'ignoreBOM', 'readable', 'writable']);
  show('TextEncoderStream', ['encoding', 'readable', 'writable']);
  show('ByteLengthQueuingStrategy', ['highWaterMark']);
  show('CountQueuingStrategy', ['highWaterMark']);
  show('PerformanceEntry', ['name', 'entryType', 'startTime', 'duration']);
  show('PerformanceMark', ['name', 'entryType', 'startTime', 'duration', 'detail']);
  show('PerformanceMeasure', ['name', 'entryType', 'startTime', 'duration', 'detail']);
  show('ReadableStream', (v) => {
    const s = streams.readableOf(v);
    return { __proto__: null, locked: s.reader !== undefined, state: s.state, supportsBYOB: s.controller.byte };
  });
  show('WritableStream', (v) => {
    const s = streams.writableOf(v);
    return { __proto__: null, locked: s.writer !== undefined, state: s.state };
  });
  show('Headers', (v) => {
    const list = internal.headerList(v), out = { __proto__: null }, names = { __proto__: null };
    for (let i = 0; i < list.length; i += 2) {
      const lower = p.toLowerCase(list[i]), name = names[lower] ??= list[i];
      out[name] = name in out ? `${out[name]}, ${list[i + 1]}` : list[i + 1];
    }
    return out;
  });
  show('FormData', (v) => {
    const list = internal.formList(v), out = { __proto__: null };
    for (let i = 0; i < list.length; i += 2) {
      const before = out[list[i]];
      out[list[i]] = before === undefined ? list[i + 1] : p.isArray(before) ? p.arraySlice(before) : [before];
      if (before !== undefined) p.arrayPush(out[list[i]], list[i + 1]);
    }
    return out;
  });
  internal.showPlatform = show;

  // pairs returns the remaining items of an iterator of pairs, such as that of URLSearchParams; undefined for anything
  // else.
  inspecting.pairs = (v) => {
    const proto = p.getPrototypeOf(v);
    for (let i = 0; i < internal.pairIterators.length; i++) {
      if (internal.pairIterators[i][0] !== proto) continue;
      try { return internal.pairIterators[i][1](v); } catch { return undefined; } // v is no iterator
    }
    return undefined;
  };

  // platform returns an object whose members represent v, or undefined.
  inspecting.platform = (v) => {
    for (let o = p.getPrototypeOf(v), n = 0; o !== null && n < 16; o = p.getPrototypeOf(o), n++) {
      const what = p.mapGet(shown, o);
      if (what === undefined) continue;
      try {
        if (typeof what === 'function') return what(v);
        const fields = { __proto__: null };
        for (let i = 0; i < what.length; i++) fields[what[i]] = v[what[i]];
        return fields;
      } catch { return undefined; } // v is the prototype itself
    }
    return undefined;
  };
  return internal;
}
