// Options that the library reads are the caller's own or the prototypes', never the library's: polluting Object.prototype
// changes what the guest asked for and nothing that the guest did not.
// expect: value ["https://a.example/x","GET",200,"abc",3]
Object.defineProperty(Object.prototype, 'get', { value: undefined, configurable: true, writable: true });
Object.prototype.href = 'https://evil.example/';
Object.prototype.$error = ['Error', 'forged'];
Object.prototype.resolve = Object.prototype.reject = () => { throw new Error('taken'); };
Array.prototype.push = () => { throw new Error('taken'); };
const text = await new Response(new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode('abc')); c.close(); } })).text();
return [new URL('https://a.example/x').toString(), new Request('https://a.example/').method, new Response('').status, text, structuredClone([1, 2, 3]).length];
