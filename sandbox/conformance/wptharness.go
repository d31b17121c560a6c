package conformance

// wptBefore sets up the environment of a test: its location, the files that it fetches, and which global scope it is
// in. The two verbs are JSON.
const wptBefore = `(() => {
	const url = new URL(%s), files = %s; // base64
	const define = (name, value) => Object.defineProperty(globalThis, name,
		{ value, writable: true, enumerable: false, configurable: true });
	define('location', Object.freeze({
		href: url.href, search: url.search, pathname: url.pathname, origin: url.origin, protocol: url.protocol,
		host: url.host, hostname: url.hostname, port: url.port, hash: '', toString() { return url.href; },
	}));
	define('GLOBAL', { isWindow: () => false, isWorker: () => false, isShadowRealm: () => false });
	// A page continues after an uncaught error; the harness has seen it. The last one, of wptAfter, ends the run.
	addEventListener('error', (e) => { if (e.error !== 'told') e.preventDefault(); });
	// What the suite's own server does for the tests that need no more than that.
	const fetched = globalThis.fetch;
	const serve = (request, key) => {
		const [path, query = ''] = key.split('?');
		if (path.endsWith('/echo-content.py')) {
			return new Response(request.body, { headers: { 'Content-Type': 'text/plain' } });
		}
		if (!path.endsWith('/inspect-headers.py')) return undefined;
		const headers = new Headers();
		for (const name of new URLSearchParams(query).get('headers').split('|')) {
			if (request.headers.has(name)) headers.set('x-request-' + name, request.headers.get(name));
		}
		return new Response('', { headers });
	};
	if (globalThis.Request) define('fetch', async (input, init) => {
		const key = String(input?.url ?? input);
		if (Object.hasOwn(files, key)) {
			const headers = { 'Content-Type': key.endsWith('.json') ? 'application/json' : 'text/plain' };
			return new Response(Uint8Array.from(atob(files[key]), (c) => c.charCodeAt(0)), { headers });
		}
		const answer = serve(new Request(new URL(key, url), init), key);
		if (answer) return answer;
		if (fetched) return fetched(input, init);
		throw new TypeError('no file ' + key);
	});
	// The suite obtains SharedArrayBuffer through the only API that has it everywhere in browsers.
	if (!globalThis.WebAssembly) define('WebAssembly', { Memory: class { buffer = new SharedArrayBuffer(0); } });
})();`

// wptAfter prints the outcome once every test has ended.
const wptAfter = `(() => {
	const { stringify } = JSON, { log } = console, text = String, end = reportError;
	setup({ explicit_done: true }); // or the first microtask would end the tests
	add_completion_callback((tests, status) => {
		log('\x01' + stringify({
			status: status.status, message: text(status.message),
			tests: tests.map((t) => ({ name: t.name, status: t.status, message: text(t.message) })),
		}));
		end('told');
	});
})();`
