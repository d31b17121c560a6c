const dec = new TextDecoder('utf-8', { fatal: true }); try { dec.decode(new Uint8Array([0xff])) } catch (e) { console.log(e.name, e.message) }
const rs = new ReadableStream({ start(c) { c.enqueue(new Uint8Array([0xe2, 0x82])); c.enqueue(new Uint8Array([0xac])); c.close() } }).pipeThrough(new TextDecoderStream()); for await (const t of rs) console.log(JSON.stringify(t));
const es = new TextEncoderStream(); const w = es.writable.getWriter(); w.write('hé'); w.close(); for await (const c of es.readable) console.log(c);
console.log(new TextEncoder().encodeInto('héy', new Uint8Array(3)), new TextDecoder('latin1').encoding, new TextDecoder('shift_jis').decode(new Uint8Array([0x83, 0x65])), atob('aGk='), btoa('hi')); try { atob('*') } catch (e) { console.log(e.name) } try { btoa('€') } catch (e) { console.log(e.name) }
console.log(new TextDecoder('utf-16le', { ignoreBOM: true }));
