// A Proxy that throws at every touch.
// expect: error any
throw new Proxy({}, new Proxy({}, { get() { return () => { throw 1; }; } }));
