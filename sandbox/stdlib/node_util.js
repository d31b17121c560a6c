// Node's util.
(host, internal) => {
  'use strict';
  const { modules, nodeError, p, define } = internal;
  const custom = Symbol.for('nodejs.util.inspect.custom'), promisified = Symbol.for('nodejs.util.promisify.custom');
  const functionOf = (f, name) => {
    if (typeof f !== 'function') throw internal.nodeWrongType(name, 'of type function', f);
    return f;
  };

  const colors = {};
  const codes = 'reset 0 0 bold 1 22 dim 2 22 italic 3 23 underline 4 24 blink 5 25 inverse 7 27 hidden 8 28 strikethrough 9 29 doubleunderline 21 24 '
    + 'black 30 39 red 31 39 green 32 39 yellow 33 39 blue 34 39 magenta 35 39 cyan 36 39 white 37 39 bgBlack 40 49 bgRed 41 49 bgGreen 42 49 bgYellow 43 49 '
    + 'bgBlue 44 49 bgMagenta 45 49 bgCyan 46 49 bgWhite 47 49 framed 51 54 overlined 53 55 gray 90 39 redBright 91 39 greenBright 92 39 yellowBright 93 39 '
    + 'blueBright 94 39 magentaBright 95 39 cyanBright 96 39 whiteBright 97 39 bgGray 100 49 bgRedBright 101 49 bgGreenBright 102 49 bgYellowBright 103 49 '
    + 'bgBlueBright 104 49 bgMagentaBright 105 49 bgCyanBright 106 49 bgWhiteBright 107 49';
  for (const [, name, on, off] of codes.matchAll(/(\w+) (\d+) (\d+)/g)) colors[name] = [+on, +off];
  // The other names of colors are not enumerable.
  const aliases = { grey: 'gray', blackBright: 'gray', bgGrey: 'bgGray', bgBlackBright: 'bgGray', faint: 'dim', crossedout: 'strikethrough', strikeThrough: 'strikethrough',
    crossedOut: 'strikethrough', conceal: 'hidden', swapColors: 'inverse', swapcolors: 'inverse', doubleUnderline: 'doubleunderline' };
  for (const name of Object.keys(aliases)) define(colors, name, colors[aliases[name]]);

  const inspect = (v, options, ...more) => {
    if (typeof options === 'boolean') options = { showHidden: options, depth: more[0], colors: more[1] };
    return internal.inspect(v, options);
  };
  Object.assign(inspect, {
    custom,
    defaultOptions: { showHidden: false, depth: 2, colors: false, customInspect: true, showProxy: false, maxArrayLength: 100, maxStringLength: 10000, breakLength: 80, compact: 3, sorted: false, getters: false, numericSeparator: false },
    colors,
    styles: { special: 'cyan', number: 'yellow', bigint: 'yellow', boolean: 'yellow', undefined: 'grey', null: 'bold', string: 'green', symbol: 'green', date: 'magenta', regexp: 'red', module: 'underline' },
  });
  const format = (...args) => internal.format(args);

  const promisify = (f) => {
    functionOf(f, 'original');
    if (f[promisified] !== undefined) return functionOf(f[promisified], 'util.promisify.custom');
    const out = function (...args) {
      return new Promise((resolve, reject) => {
        f.call(this, ...args, (e, ...values) => {
          if (e) reject(e);
          else resolve(values[0]);
        });
      });
    };
    Object.setPrototypeOf(out, Object.getPrototypeOf(f));
    return Object.defineProperties(out, { ...Object.getOwnPropertyDescriptors(f), [promisified]: { value: out, configurable: true } });
  };
  promisify.custom = promisified;

  const callbackify = (f) => {
    functionOf(f, 'original');
    const out = function (...args) {
      const done = functionOf(args.pop(), 'last argument');
      f.apply(this, args).then((v) => process.nextTick(done, null, v), (e) => {
        if (!e) {
          const reason = e;
          e = nodeError(Error, 'ERR_FALSY_VALUE_REJECTION', 'Promise was rejected with falsy value');
          e.reason = reason;
        }
        process.nextTick(done, e);
      });
    };
    define(out, 'name', f.name + 'Callbackified');
    define(out, 'length', f.length + 1);
    return out;
  };

  const tag = (v) => Object.prototype.toString.call(v).slice(8, -1);
  const { kinds } = internal, has = (kind, method) => (v) => internal.has(v, kind, method);
  const boxed = (kind, proto) => has(kind, p.uncurry(proto.valueOf));
  const typedTag = (v) => ArrayBuffer.isView(v) ? p.typedTag(v) : undefined;
  const types = {
    isAnyArrayBuffer: (v) => internal.isBuffer(v) || internal.isShared(v),
    isArrayBuffer: (v) => internal.isBuffer(v),
    isSharedArrayBuffer: (v) => internal.isShared(v),
    isArrayBufferView: (v) => ArrayBuffer.isView(v),
    isTypedArray: (v) => typedTag(v) !== undefined,
    isDataView: (v) => ArrayBuffer.isView(v) && typedTag(v) === undefined,
    isMap: has(kinds.map, p.mapSize), isSet: has(kinds.set, p.setSize), isDate: has(kinds.date, p.dateGetTime),
    isWeakMap: has(kinds.weakMap, (v) => p.weakMapHas(v, {})), isWeakSet: has(kinds.weakSet, (v) => p.weakSetHas(v, {})),
    isRegExp: (v) => internal.isRegExp(v), isPromise: (v) => v instanceof Promise,
    isNativeError: (v) => tag(v) === 'Error' && v instanceof Error,
    isArgumentsObject: (v) => tag(v) === 'Arguments',
    isAsyncFunction: (v) => typeof v === 'function' && tag(v) === 'AsyncFunction',
    isGeneratorFunction: (v) => typeof v === 'function' && (tag(v) === 'GeneratorFunction' || tag(v) === 'AsyncGeneratorFunction'),
    isGeneratorObject: (v) => tag(v) === 'Generator', isMapIterator: (v) => tag(v) === 'Map Iterator', isSetIterator: (v) => tag(v) === 'Set Iterator',
    isModuleNamespaceObject: (v) => tag(v) === 'Module', isProxy: (v) => internal.kind(v) === internal.kinds.proxy, isExternal: () => false,
    isNumberObject: boxed(kinds.number, Number.prototype), isStringObject: boxed(kinds.string, String.prototype), isBooleanObject: boxed(kinds.boolean, Boolean.prototype),
    isBigIntObject: boxed(kinds.bigint, BigInt.prototype), isSymbolObject: boxed(kinds.symbol, Symbol.prototype),
    isCryptoKey: (v) => typeof CryptoKey === 'function' && v instanceof CryptoKey, isKeyObject: () => false,
  };
  types.isBoxedPrimitive = (v) => {
    if (typeof v !== 'object' || v === null) return false;
    const kind = internal.kind(v);
    if (kind !== kinds.other) return kind >= kinds.number && kind <= kinds.symbol;
    return types.isNumberObject(v) || types.isStringObject(v) || types.isBooleanObject(v) || types.isBigIntObject(v) || types.isSymbolObject(v);
  };
  for (const name of ['Uint8Array', 'Uint8ClampedArray', 'Uint16Array', 'Uint32Array', 'Int8Array', 'Int16Array', 'Int32Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array']) {
    types['is' + name] = (v) => typedTag(v) === name;
  }

  const text = (v, name) => {
    internal.check.string(v, name);
    return v;
  };
  const stripVTControlCharacters = (s) => text(s, 'str').replace(/[\u001B\u009B][[\]()#;?]*(?:(?:(?:(?:;[-a-zA-Z\d/#&.:=?%@~_]+)*|[a-zA-Z\d]+(?:;[-a-zA-Z\d/#&.:=?%@~_]*)*)?\u0007)|(?:(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-ntqry=><~]))/g, '');
  const styleText = (style, text, { validateStream = true } = {}) => {
    if (typeof text !== 'string') throw internal.nodeWrongType('text', 'of type string', text);
    for (const name of [style].flat().reverse()) { // the first is the outermost
      const code = inspect.colors[name];
      if (code === undefined) throw nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'format' must be one of: ${Object.keys(inspect.colors).map((k) => `'${k}'`).join(', ')}. Received '${name}'`);
      if (!validateStream || Array.isArray(style)) text = `\u001b[${code[0]}m${text}\u001b[${code[1]}m`; // the console is not a terminal; as in Node, that counts for one format
    }
    return text;
  };

  const warned = new Set();
  const deprecate = function deprecate(f, message, code) {
    if (code !== undefined) text(code, 'code');
    let told = false;
    const deprecated = function deprecated(...args) {
      if (!told && !process.noDeprecation) {
        told = true;
        if (code === undefined || !warned.has(code)) process.emitWarning(message, 'DeprecationWarning', code);
        warned.add(code);
      }
      return new.target ? Reflect.construct(f, args, new.target) : Reflect.apply(f, this, args);
    };
    Object.setPrototypeOf(deprecated, f);
    if (f.prototype) deprecated.prototype = f.prototype;
    return deprecated;
  };
  // systemErrors maps the numbers of errors to names and messages.
  const systemErrors = () => {
    const out = new Map(), { errno } = modules.os.constants;
    for (const name of Object.keys(errno)) if (!out.has(-errno[name])) out.set(-errno[name], [name, '']);
    return out;
  };
  const two = (n) => `${n}`.padStart(2, '0');

  modules['util/types'] = types;
  modules.util = {
    inspect, format, promisify, callbackify, types, deprecate, stripVTControlCharacters, styleText,
    formatWithOptions(options, ...args) {
      if (options === null || typeof options !== 'object') throw internal.nodeWrongType('inspectOptions', 'of type object', options);
      return internal.format(args, options);
    },
    debuglog: () => Object.assign(() => {}, { enabled: false }), debug: () => Object.assign(() => {}, { enabled: false }),
    inherits(constructor, parent) {
      for (const [f, name] of [[constructor, 'ctor'], [parent, 'superCtor']]) if (f === undefined || f === null) throw internal.nodeWrongType(name, 'of type function', f);
      if (parent.prototype === undefined) throw internal.nodeWrongType('superCtor.prototype', 'of type object', undefined);
      Object.defineProperty(constructor, 'super_', { __proto__: null, value: parent, writable: true, configurable: true });
      Object.setPrototypeOf(constructor.prototype, parent.prototype);
    },
    isDeepStrictEqual: (a, b) => internal.deepEqual(a, b, true),
    toUSVString: (s) => `${s}`.toWellFormed(),
    aborted: (signal) => new Promise((resolve) => signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })),
    TextEncoder: globalThis.TextEncoder, TextDecoder: globalThis.TextDecoder,
    isArray: Array.isArray, isBoolean: (v) => typeof v === 'boolean', isNull: (v) => v === null, isNullOrUndefined: (v) => v === null || v === undefined,
    isNumber: (v) => typeof v === 'number', isString: (v) => typeof v === 'string', isSymbol: (v) => typeof v === 'symbol', isUndefined: (v) => v === undefined,
    isRegExp: types.isRegExp, isObject: (v) => v !== null && typeof v === 'object', isDate: types.isDate, isError: (v) => types.isNativeError(v) || v instanceof Error,
    isFunction: (v) => typeof v === 'function', isPrimitive: (v) => v === null || typeof v !== 'object' && typeof v !== 'function', isBuffer: (v) => modules.buffer.Buffer.isBuffer(v),
    getSystemErrorName(n) {
      if (typeof n !== 'number') throw internal.nodeWrongType('err', 'of type number', n);
      if (n >= 0 || !Number.isSafeInteger(n)) throw internal.nodeOutOfRange('err', 'a negative integer', n);
      return systemErrors().get(n)?.[0] ?? `Unknown system error ${n}`;
    },
    getSystemErrorMap: systemErrors,
    log(...args) {
      const now = new Date(), month = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')[now.getMonth()];
      console.log('%s - %s', `${now.getDate()} ${month} ${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())}`, format(...args));
    },
    // parseEnv reads the lines of an .env file.
    parseEnv(content) {
      const out = {}, line = /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*(?:(["'`])([^]*?)\2[^\n]*|([^#\n]*)[^\n]*)/gm;
      for (const [, name, quote, quoted, plain] of content.replaceAll('\r\n', '\n').matchAll(line)) {
        out[name] = quote === undefined ? plain.trim() : quote === '"' ? quoted.replaceAll('\\n', '\n') : quoted;
      }
      return out;
    },
    _extend(target, source) {
      if (source === null || typeof source !== 'object') return target;
      for (const name of Object.keys(source).reverse()) target[name] = source[name];
      return target;
    },
  };
  modules.sys = modules.util;
  return internal;
}
