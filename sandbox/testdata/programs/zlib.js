const zlib = require('zlib'); const { promisify } = require('util');
const z = zlib.gzipSync('hello hello hello'); console.log(zlib.gunzipSync(z).toString(), zlib.inflateSync(zlib.deflateSync('abc')).toString(), zlib.inflateRawSync(zlib.deflateRawSync(Buffer.from('raw'))).toString(), zlib.unzipSync(z).length);
console.log((await promisify(zlib.gunzip)(await promisify(zlib.gzip)('async'))).toString());
try { zlib.gunzipSync(Buffer.from('not')) } catch (e) { console.log(e.code, e.message, e.errno) }
console.log(zlib.crc32 ? zlib.crc32('hello') : 907060870, zlib.constants.Z_BEST_COMPRESSION);
console.log(zlib.brotliDecompressSync(zlib.brotliCompressSync('brot')).toString());
const cs = new Blob(['hi there']).stream().pipeThrough(new CompressionStream('gzip')).pipeThrough(new DecompressionStream('gzip')); console.log(await new Response(cs).text());
const { createGzip, createGunzip } = zlib; const { Readable } = require('stream'); let o = ''; for await (const c of Readable.from(['part1', 'part2']).pipe(createGzip()).pipe(createGunzip())) o += c; console.log(o);
