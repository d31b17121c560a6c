const { Buffer } = require('buffer');
const b = Buffer.from('héllo wörld');
console.log(b, b.length, b.toString('hex'), b.toString('base64'), b.toString('base64url'), b.slice(0,5).toString('latin1'));
console.log(Buffer.concat([Buffer.from([1,2]), Buffer.alloc(3, 'ab')]), Buffer.byteLength('€'), Buffer.compare(Buffer.from('a'), Buffer.from('b')));
const w = Buffer.alloc(16); w.writeUInt32BE(0xdeadbeef, 0); w.writeDoubleLE(1.5, 4); w.writeBigInt64LE; console.log(w, w.readUInt32LE(0), w.readDoubleLE(4));
console.log(JSON.stringify(Buffer.from('hi')), Buffer.isBuffer(b), b.equals(Buffer.from('héllo wörld')), b.indexOf('w'), b.includes('zz'));
console.log([...Buffer.from('abc').entries()], Buffer.from('ff00', 'hex').readInt16BE(0), b.subarray(-3));
try { Buffer.alloc(-1) } catch (e) { console.log(e.code, e.message) }
try { w.readUInt8(99) } catch (e) { console.log(e.code, e.message) }
console.log(Buffer.from([1,2,3]).swap16 ? 'swap' : '', Buffer.from('abc').toString('utf16le').length, Buffer.from('zz','hex'));
console.log(Buffer.from('test').fill('xy'), Buffer.from(new Uint16Array([1,256])), Buffer.from(new ArrayBuffer(2)));
console.log({ data: Buffer.from('x'.repeat(60)) });
