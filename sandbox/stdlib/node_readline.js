// Node's readline and readline/promises over any stream, and process.stdin, which reads the run's input as text.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const EventEmitter = modules.events;
  const { StringDecoder } = modules.string_decoder;
  const { Readable } = modules.stream;

  // inputText returns the content of standard input: the input if it is a string, else its JSON.
  internal.inputText = () => {
    const { input } = globalThis;
    return input === undefined || input === null ? '' : typeof input === 'string' ? input : JSON.stringify(input) ?? '';
  };
  let stdin;
  Object.defineProperty(globalThis.process, 'stdin', { configurable: true, enumerable: true, get() {
    if (stdin === undefined) {
      // The end comes in a later turn than the data, as from a pipe: a promise that a line has settled goes on before it.
      let given = false;
      stdin = new Readable({ read() {
        if (given) return;
        given = true;
        const bytes = internal.takeInput();
        if (bytes.length > 0) this.push(bytes);
        setImmediate(() => { this.push(null); });
      } });
      Object.assign(stdin, { fd: 0, setRawMode() { return stdin; }, ref() { return stdin; }, unref() { return stdin; } });
    }
    return stdin;
  } });

  const closed = () => nodeError(Error, 'ERR_USE_AFTER_CLOSE', 'readline was closed');
  const aborted = (signal) => internal.nodeAborted(signal);
  // linesOf is text.split(/\r\n|\n|\r/). The engine tries such a pattern at each character, which takes 40 times as long
  // as to look for a character.
  const linesOf = (text) => {
    const lines = text.split('\n');
    if (!text.includes('\r')) return lines;
    const out = [];
    for (let i = 0; i < lines.length; i++) {
      const line = i < lines.length - 1 && lines[i].endsWith('\r') ? lines[i].slice(0, -1) : lines[i];
      for (const piece of line.split('\r')) out.push(piece);
    }
    return out;
  };

  class InterfaceBase extends EventEmitter {
    #rest = ''; #question; #prompt = '> '; #decoder = new StringDecoder('utf8'); #skip = false; #waiting = []; #onData; #onEnd;
    constructor(input, output) {
      super();
      const options = input !== null && typeof input === 'object' && (input.input !== undefined || typeof input.on !== 'function') ? input : { input, output };
      this.input = options.input;
      this.output = options.output;
      this.terminal = false;
      this.line = '';
      this.cursor = 0;
      this.closed = false;
      this.paused = false;
      if (options.prompt !== undefined) this.#prompt = String(options.prompt);
      if (this.input === undefined || this.input === null || typeof this.input.on !== 'function') throw internal.nodeWrongType('input', 'an instance of Stream', this.input);
      this.#onData = (chunk) => this.#take(typeof chunk === 'string' ? chunk : this.#decoder.write(chunk));
      this.#onEnd = () => this.#end();
      this.input.on('data', this.#onData);
      this.input.on('end', this.#onEnd);
      options.signal?.addEventListener('abort', () => this.close(), { once: true });
    }
    #take(text) {
      if (this.#skip && text[0] === '\n') text = text.slice(1);
      if (text !== '') this.#skip = false;
      const lines = linesOf(this.#rest + text);
      if (text.endsWith('\r')) this.#skip = true;
      this.#rest = lines.pop();
      for (const line of lines) this.#line(line);
    }
    #line(line) {
      if (this.paused) { this.#waiting.push(line); return; }
      const asked = this.#question;
      if (asked !== undefined) {
        this.#question = undefined;
        asked(line);
      } else this.emit('line', line);
    }
    #end() {
      this.#take(this.#decoder.end());
      if (this.#rest !== '') {
        const last = this.#rest;
        this.#rest = '';
        if (this.paused) this.#waiting.push(last); else this.emit('line', last); // not the answer of a question, as in Node
      }
      if (!this.paused) this.close();
      else this.#waiting.push(null);
    }
    close() {
      if (this.closed) return;
      this.closed = true;
      this.input.removeListener('data', this.#onData);
      this.input.removeListener('end', this.#onEnd);
      this.input.pause?.();
      this.emit('close');
    }
    pause() {
      if (this.paused) return this;
      this.paused = true;
      this.input.pause?.();
      this.emit('pause');
      return this;
    }
    resume() {
      if (!this.paused) return this;
      this.paused = false;
      this.emit('resume');
      const held = this.#waiting;
      this.#waiting = [];
      for (const line of held) if (line === null) this.close(); else this.#line(line);
      if (!this.closed) this.input.resume?.();
      return this;
    }
    setPrompt(text) { this.#prompt = String(text); }
    getPrompt() { return this.#prompt; }
    prompt() { this.output?.write(this.#prompt); if (this.paused) this.resume(); }
    write(text) { if (this.closed) throw closed(); if (text !== undefined && text !== null) this.#take(String(text)); }
    question(query, options, done = options) {
      if (this.closed) throw closed();
      if (typeof done !== 'function') throw internal.nodeWrongType('cb', 'of type function', done);
      const signal = options?.signal;
      if (signal?.aborted) return;
      signal?.addEventListener('abort', () => { this.#question = undefined; }, { once: true });
      this.output?.write(query);
      this.#question = done;
      if (this.paused) this.resume();
    }
    getCursorPos() { return { rows: 0, cols: this.cursor }; }
    [Symbol.asyncIterator]() {
      const readers = [];
      const lines = new internal.Fifo();
      let ended = this.closed;
      this.on('line', (line) => { if (readers.length > 0) readers.shift()({ value: line, done: false }); else lines.push(line); });
      this.on('close', () => { ended = true; for (const give of readers.splice(0)) give({ value: undefined, done: true }); });
      return {
        next: () => lines.length > 0 ? Promise.resolve({ value: lines.shift(), done: false })
          : ended ? Promise.resolve({ value: undefined, done: true }) : new Promise((give) => { readers.push(give); }),
        return: () => { this.close(); return Promise.resolve({ value: undefined, done: true }); },
        [Symbol.asyncIterator]() { return this; },
      };
    }
    [Symbol.dispose]() { this.close(); }
  }
  // Interface makes one also without new.
  function Interface(...args) { return Reflect.construct(InterfaceBase, args, new.target ?? Interface); }
  Object.setPrototypeOf(Interface.prototype, InterfaceBase.prototype);
  Object.setPrototypeOf(Interface, InterfaceBase);
  Object.defineProperty(InterfaceBase.prototype.question, Symbol.for('nodejs.util.promisify.custom'), { value(query, options) {
    return new Promise((resolve) => { this.question(query, options, resolve); });
  } });

  class PromiseInterface extends InterfaceBase {
    question(query, options) {
      return new Promise((resolve, reject) => {
        const signal = options?.signal;
        if (signal?.aborted) { reject(aborted(signal)); return; }
        signal?.addEventListener('abort', () => { reject(aborted(signal)); }, { once: true });
        super.question(query, options ?? {}, resolve);
      });
    }
  }

  // The cursor functions write terminal escape codes.
  const { validateFunction, validateInteger, validateBoolean } = internal.nodeStream.validators;
  const { ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE } = internal.nodeStream.codes;
  const codes = {
    cursorTo: (x, y) => (typeof y === 'number' ? `\x1b[${y + 1};${x + 1}H` : `\x1b[${x + 1}G`),
    moveCursor: (dx, dy) => (dx < 0 ? `\x1b[${-dx}D` : dx > 0 ? `\x1b[${dx}C` : '') + (dy < 0 ? `\x1b[${-dy}A` : dy > 0 ? `\x1b[${dy}B` : ''),
    clearLine: (dir) => (dir < 0 ? '\x1b[1K' : dir > 0 ? '\x1b[0K' : '\x1b[2K'),
    clearScreenDown: () => '\x1b[0J',
  };
  // put writes a code. There may be none, and no stream.
  const put = (stream, text, done) => {
    if (done !== undefined) validateFunction(done, 'callback');
    if (stream !== null && stream !== undefined && text !== '') return stream.write(text, done);
    if (typeof done === 'function') process.nextTick(done, null);
    return true;
  };
  const cursorTo = (stream, x, y, done) => {
    if (typeof y === 'function') {
      done = y;
      y = undefined;
    }
    if (done !== undefined) validateFunction(done, 'callback');
    for (const [name, v] of [['x', x], ['y', y]]) if (v !== v) throw new ERR_INVALID_ARG_VALUE(name, v);
    if (stream === null || stream === undefined || typeof x !== 'number' && typeof y !== 'number') return put(undefined, '', done);
    if (typeof x !== 'number') throw nodeError(TypeError, 'ERR_INVALID_CURSOR_POS', 'Cannot set cursor row without setting its column');
    return put(stream, codes.cursorTo(x, y), done);
  };
  const moveCursor = (stream, dx, dy, done) => put(stream, codes.moveCursor(dx, dy), done);
  const clearLine = (stream, dir, done) => put(stream, codes.clearLine(dir), done);
  const clearScreenDown = (stream, done) => put(stream, codes.clearScreenDown(), done);
  // Readline collects codes until they are committed.
  class Readline {
    #stream; #auto = false; #todo = [];
    constructor(stream, options = undefined) {
      if (!modules.stream.isWritable(stream)) throw new ERR_INVALID_ARG_TYPE('stream', 'Writable', stream);
      this.#stream = stream;
      if (options?.autoCommit === undefined || options.autoCommit === null) return;
      validateBoolean(options.autoCommit, 'options.autoCommit');
      this.#auto = options.autoCommit;
    }
    #add(text) {
      if (this.#auto) process.nextTick(() => this.#stream.write(text));
      else this.#todo.push(text);
      return this;
    }
    cursorTo(x, y = undefined) {
      validateInteger(x, 'x');
      if (y !== undefined && y !== null) validateInteger(y, 'y');
      return this.#add(codes.cursorTo(x, y));
    }
    moveCursor(dx, dy) {
      if (!dx && !dy) return this;
      validateInteger(dx, 'dx');
      validateInteger(dy, 'dy');
      return this.#add(codes.moveCursor(dx, dy));
    }
    clearLine(dir) {
      validateInteger(dir, 'dir', -1, 1);
      return this.#add(codes.clearLine(dir));
    }
    clearScreenDown() { return this.#add(codes.clearScreenDown()); }
    commit() {
      return new Promise((resolve) => {
        this.#stream.write(this.#todo.join(''), resolve);
        this.#todo = [];
      });
    }
    rollback() {
      this.#todo = [];
      return this;
    }
  }
  internal.define(PromiseInterface, 'name', 'Interface');
  const promises = { Interface: PromiseInterface, Readline, createInterface: (input, output) => new PromiseInterface(input, output) };
  modules['readline/promises'] = promises;
  modules.readline = {
    Interface, createInterface: (input, output) => new Interface(input, output), promises,
    cursorTo, moveCursor, clearLine, clearScreenDown, emitKeypressEvents() {},
  };
  return internal;
}
