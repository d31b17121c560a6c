// A Proxy that lies about its length.
// expect: any
return new Proxy([], { get(t, k) { return k === 'length' ? 1e9 : 1; } });
