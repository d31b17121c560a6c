package conformance

// wptBefore is what a test finds around it: its location, the files it fetches, and which global scope it is in. The two
// verbs are JSON.
const wptBefore = `(() => {
	const url = new URL(%s), files = %s;
	const define = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
	define('location', Object.freeze({ href: url.href, search: url.search, pathname: url.pathname, origin: url.origin, protocol: url.protocol, host: url.host, hostname: url.hostname, port: url.port, hash: '', toString() { return url.href; } }));
	define('GLOBAL', { isWindow: () => false, isWorker: () => false, isShadowRealm: () => false });
	const fetched = globalThis.fetch;
	define('fetch', (name, ...rest) => {
		const key = String(name);
		if (!Object.hasOwn(files, key)) return fetched ? fetched(name, ...rest) : Promise.reject(new TypeError('no file ' + key));
		const text = () => Promise.resolve(files[key]);
		return Promise.resolve({ ok: true, status: 200, text, json: () => text().then(JSON.parse) });
	});
})();`

// wptAfter tells the outcome once every test has ended.
const wptAfter = `(() => {
	const { stringify } = JSON, { log } = console, text = String;
	setup({ explicit_done: true }); // or the first microtask would end the tests
	add_completion_callback((tests, status) => {
		log('\x01' + stringify({
			status: status.status, message: text(status.message),
			tests: tests.map((t) => ({ name: t.name, status: t.status, message: text(t.message) })),
		}));
	});
})();`
