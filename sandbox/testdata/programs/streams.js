const { Readable, Writable, Transform, pipeline, PassThrough, finished } = require('stream'); const { pipeline: pp } = require('stream/promises');
const up = new Transform({ transform(c, enc, cb) { cb(null, c.toString().toUpperCase()) } });
const out = []; await pp(Readable.from(['a', 'b', 'c']), up, new Writable({ write(c, e, cb) { out.push(c.toString()); cb() } })); console.log(out);
const r = new Readable({ read() { this.push('x'); this.push(null) } }); for await (const c of r) console.log(c);
pipeline(Readable.from([1]), new PassThrough({objectMode: true}), (e) => console.log('done', e)).on('data', (d) => console.log(d));
await new Promise((res) => setTimeout(res, 5));
await pp(Readable.from(['q']), async function* (src) { for await (const c of src) { yield c + '!' } }, async (src) => { for await (const c of src) console.log(String(c)) });
const bad = new Readable({ read() { this.destroy(new Error('oops')) } }); try { for await (const _ of bad) ; } catch (e) { console.log(e.message) }
const web = Readable.toWeb ? 'toWeb' : 'no'; console.log(web, await Readable.from([1,2,3]).map((x) => x * 2).toArray());
const s = new ReadableStream({ start(c) { c.enqueue('hello'); c.close() } }); for await (const c of s) console.log(c);
console.log(await new Response(new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode('resp')); c.close() } })).text());
const ts = new TransformStream({ transform(c, ctl) { ctl.enqueue(c * 2) } }); const wr = ts.writable.getWriter(); wr.write(5); wr.close(); console.log(await ts.readable.getReader().read());
console.log(await Array.fromAsync?.(ReadableStream.from([1, 2])) ?? [1,2]);
