// What a few bytes unpack to is given up when it is too much.
// grant: agent
// memory: 16 MiB
// expect: value ["ERR_BUFFER_TOO_LARGE","ERR_BUFFER_TOO_LARGE"]
const zlib = require('zlib');
let b = zlib.gzipSync(Buffer.alloc(4 << 20));
const parts = [];
for (let i = 0; i < 64; i++) parts.push(b);
const out = [];
try { zlib.gunzipSync(Buffer.concat(parts)); } catch (e) { out.push(e.code); }
try { zlib.gunzipSync(b, { maxOutputLength: 1000 }); } catch (e) { out.push(e.code); }
out;
