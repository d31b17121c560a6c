// TextEncoderStream and TextDecoderStream.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const { streams } = internal;
  const { TextDecoder } = globalThis;
  const decode = p.uncurry(TextDecoder.prototype.decode);
  const encoding = p.getter(TextDecoder.prototype, 'encoding'), fatal = p.getter(TextDecoder.prototype, 'fatal'), ignoreBOM = p.getter(TextDecoder.prototype, 'ignoreBOM');

  internal.expose(class TextDecoderStream {
    #decoder; #t;
    constructor(label = 'utf-8', options = undefined) {
      const decoder = this.#decoder = new TextDecoder(label, options);
      const more = { __proto__: null, stream: true };
      this.#t = streams.transformer((chunk, put) => {
        if (!internal.isBufferSource(chunk) && !internal.isShared(chunk)) throw new p.TypeError('the chunk is not an ArrayBuffer or a view of one');
        const text = decode(decoder, chunk, more);
        if (text !== '') put(text);
      }, (put) => {
        const text = decode(decoder);
        if (text !== '') put(text);
      });
    }
    get encoding() { return encoding(this.#decoder); }
    get fatal() { return fatal(this.#decoder); }
    get ignoreBOM() { return ignoreBOM(this.#decoder); }
    get readable() { return this.#t.readable; }
    get writable() { return this.#t.writable; }
  });

  internal.expose(class TextEncoderStream {
    #t;
    constructor() {
      let high = ''; // a leading surrogate that waits for the next chunk
      this.#t = streams.transformer((chunk, put) => {
        let text = high + internal.text(chunk);
        high = '';
        if (text === '') return;
        const last = p.charCodeAt(text, text.length - 1);
        if (last >= 0xd800 && last < 0xdc00) {
          high = p.slice(text, text.length - 1);
          text = p.slice(text, 0, text.length - 1);
        }
        if (text !== '') put(internal.encodeText(text));
      }, (put) => { if (high !== '') put(internal.encodeText('\ufffd')); });
    }
    get encoding() {
      this.#t;
      return 'utf-8';
    }
    get readable() { return this.#t.readable; }
    get writable() { return this.#t.writable; }
  });
  return internal;
}
