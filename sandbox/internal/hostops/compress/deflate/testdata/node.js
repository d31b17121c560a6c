// Prints what Node's zlib makes of the inputs of deflate_test.go, a line each: the format, the input, the level, the
// number of bytes and their SHA-256.
const { createHash } = require('crypto'), zlib = require('zlib');
const inputs = {
  empty: '', one: 'x', text: 'The quick brown fox jumps over the lazy dog. '.repeat(20), zeros: Buffer.alloc(200000),
};
let seed = 1;
const random = (n) => (seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) >>> 16 & n - 1;
const made = (n, f) => Buffer.from(Array.from({ length: n }, f));
inputs.noise = made(100000, () => random(256));
inputs.four = made(150000, () => random(4));
inputs.rare = made(150000, () => Math.clz32(random(32768)));
inputs.words = Array.from({ length: 40000 }, () => ['alpha', 'beta', 'gamma', 'delta', 'eta', 'io', 'mu', 'x'][random(8)]).join(' ');
inputs.json = JSON.stringify(Array.from({ length: 5000 }, (_, i) => ({ id: i, name: 'user' + i, v: i * i % 977 })));
const print = (out, ...what) => {
  console.log(...what, out.length, createHash('sha256').update(out).digest('hex').slice(0, 16));
};
for (const [format, pack] of Object.entries({ raw: zlib.deflateRawSync, zlib: zlib.deflateSync, gzip: zlib.gzipSync })) {
  for (const [name, input] of Object.entries(inputs)) {
    for (let level = format === 'raw' ? 1 : 0; level <= 9; level++) {
      if (format !== 'raw' && input.length > 1000) continue; // they differ from raw in header and checksum
      print(pack(input, { level }), format, name, level);
    }
    for (let strategy = 1; strategy <= 4; strategy++) {
      for (const level of [0, 1, 3, 6, 9]) {
        if (format !== 'raw' ? input.length > 1000 : level === 0) continue;
        print(pack(input, { level, strategy }), format, name, level, strategy);
      }
    }
  }
}
const flushed = zlib.createGzip(), parts = [];
flushed.on('data', (part) => parts.push(part)).on('end', () => {
  print(Buffer.concat(parts), 'flushed');
});
flushed.write(inputs.text);
flushed.flush(() => flushed.end(inputs.text));
