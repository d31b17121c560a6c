package conformance

// quickjsHost are files that stand in for what quickjs-ng's command line gives its tests: print, gc and the modules std
// and os, as far as a guest may have them. Values that tests only pass around are missing; a test that needs one fails.
var quickjsHost = map[string]string{
	"airlock-host.js": `
globalThis.print = console.log;
globalThis.gc = () => {};
globalThis.scriptArgs = [];
`,
	"node_modules/qjs:std/index.js": `
export const gc = () => {};
export const exit = (code) => process.exit(code);
export const getenv = (name) => undefined;
export const evalScript = (text) => (0, eval)(text);
export const loadFile = (name) => require('fs').readFileSync(name, 'utf8');
export const out = { puts(text) { console.log(text); }, flush() {} };
export const err = out;
`,
	"node_modules/qjs:os/index.js": `
export const platform = 'linux';
export const setTimeout = globalThis.setTimeout;
export const clearTimeout = globalThis.clearTimeout;
export const setInterval = globalThis.setInterval;
export const clearInterval = globalThis.clearInterval;
export const sleepAsync = (ms) => new Promise((resolve) => globalThis.setTimeout(resolve, ms));
export const now = () => performance.now();
export const cputime = () => performance.now() * 1000;
`,
}
