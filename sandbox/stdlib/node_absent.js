// Node modules for features that a sandbox lacks: sockets, processes, threads, realms. They load, because libraries
// require them even if they use them only elsewhere. Every function that would reach outside the run throws an error
// that names it.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const EventEmitter = modules.events;
  const { Duplex } = modules.stream;

  const absent = (name, why) => nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `${name} is not available in the sandbox: ${why}`);
  // refusing adds functions and classes to module that throw when they are called or constructed.
  const refusing = (module, of, why, ...names) => {
    for (const name of names) module[name] = { [name]: function () { throw absent(`${of}.${name}`, why); } }[name];
    return module;
  };
  // inert adds functions to module that do nothing.
  const inert = (module, ...names) => {
    for (const name of names) module[name] = { [name]() {} }[name];
    return module;
  };

  const noSockets = 'there are no sockets; use fetch, http or https';
  const v4Part = '(?:[0-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])', v4 = `(?:${v4Part}\\.){3}${v4Part}`, v6Part = '(?:[0-9a-fA-F]{1,4})';
  const isV4 = new RegExp(`^${v4}$`), isV6 = new RegExp('^(?:' + [
    `(?:${v6Part}:){7}(?:${v6Part}|:)`, `(?:${v6Part}:){6}(?:${v4}|:${v6Part}|:)`, `(?:${v6Part}:){5}(?::${v4}|(?::${v6Part}){1,2}|:)`,
    `(?:${v6Part}:){4}(?:(?::${v6Part}){0,1}:${v4}|(?::${v6Part}){1,3}|:)`, `(?:${v6Part}:){3}(?:(?::${v6Part}){0,2}:${v4}|(?::${v6Part}){1,4}|:)`,
    `(?:${v6Part}:){2}(?:(?::${v6Part}){0,3}:${v4}|(?::${v6Part}){1,5}|:)`, `(?:${v6Part}:){1}(?:(?::${v6Part}){0,4}:${v4}|(?::${v6Part}){1,6}|:)`,
    `(?::(?:(?::${v6Part}){0,5}:${v4}|(?::${v6Part}){1,7}|:))`].join('|') + ')(?:%[0-9a-zA-Z-.:]{1,})?$');
  const isIPv4 = (s) => isV4.test(`${s}`), isIPv6 = (s) => isV6.test(`${s}`);
  // Socket is a stream that is never connected.
  class Socket extends Duplex {
    constructor(options) {
      super(typeof options === 'object' ? options : undefined);
      this.connecting = false;
    }
    connect() { throw absent('net.Socket.connect', noSockets); }
    _read() { throw absent('net.Socket.read', noSockets); }
    _write() { throw absent('net.Socket.write', noSockets); }
    setTimeout() { return this; }
    setNoDelay() { return this; }
    setKeepAlive() { return this; }
    ref() { return this; }
    unref() { return this; }
    address() { return {}; }
  }
  // Libraries ask whether there is a WebSocket while they load, and make one only to connect.
  const states = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 };
  class WebSocket extends EventTarget {
    constructor() {
      super();
      throw absent('WebSocket', noSockets);
    }
  }
  for (const name of Object.keys(states)) for (const of of [WebSocket, WebSocket.prototype]) Object.defineProperty(of, name, { __proto__: null, value: states[name], enumerable: true });
  internal.define(globalThis, 'WebSocket', WebSocket);
  modules.net = inert(refusing({
    isIP: (s) => isIPv4(s) ? 4 : isIPv6(s) ? 6 : 0, isIPv4, isIPv6, Socket, Stream: Socket,
    getDefaultAutoSelectFamily: () => true, getDefaultAutoSelectFamilyAttemptTimeout: () => 250,
  }, 'net', noSockets, 'connect', 'createConnection', 'createServer', 'Server', 'BlockList', 'SocketAddress'),
  'setDefaultAutoSelectFamily', 'setDefaultAutoSelectFamilyAttemptTimeout');
  class TLSSocket extends Socket {
    get encrypted() { return true; }
    get _handle() { return handle; } // got expects a class there
  }
  const handle = { _parentWrap: new class JSStreamSocket extends Socket {}() };
  modules.tls = refusing({
    TLSSocket, rootCertificates: [], DEFAULT_ECDH_CURVE: 'auto', DEFAULT_MIN_VERSION: 'TLSv1.2', DEFAULT_MAX_VERSION: 'TLSv1.3',
    DEFAULT_CIPHERS: 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256', CLIENT_RENEG_LIMIT: 3, CLIENT_RENEG_WINDOW: 600,
    getCiphers: () => [],
  }, 'tls', noSockets, 'connect', 'createServer', 'Server', 'createSecureContext', 'SecureContext', 'createSecurePair', 'checkServerIdentity');
  modules.dgram = refusing({}, 'dgram', noSockets, 'createSocket', 'Socket');

  const dnsErrors = {};
  for (const name of 'NODATA FORMERR SERVFAIL NOTFOUND NOTIMP REFUSED BADQUERY BADNAME BADFAMILY BADRESP CONNREFUSED TIMEOUT FILE NOMEM DESTRUCTION BADSTR BADFLAGS NONAME BADHINTS NOTINITIALIZED LOADIPHLPAPI ADDRGETNETWORKPARAMS CANCELLED'.split(' ')) dnsErrors[name] = `E${name}`;
  dnsErrors.EOF = 'EOF';
  const lookups = ['lookup', 'lookupService', 'reverse', 'resolve', ...['4', '6', 'Any', 'Caa', 'Cname', 'Mx', 'Naptr', 'Ns', 'Ptr', 'Soa', 'Srv', 'Txt'].map((kind) => `resolve${kind}`)];
  const dns = (name) => {
    const noNames = 'names are resolved outside, by fetch, http and https';
    const module = inert(refusing({}, name, noNames, ...lookups), 'setServers', 'setDefaultResultOrder');
    module.Resolver = class Resolver {};
    inert(refusing(module.Resolver.prototype, `${name}.Resolver`, noNames, ...lookups), 'setServers', 'cancel');
    return Object.assign(module, { getServers: () => [], getDefaultResultOrder: () => 'verbatim' }, dnsErrors);
  };
  const resolving = dns('dns.promises');
  for (const of of [resolving, resolving.Resolver.prototype]) {
    for (const name of lookups) {
      const refused = of[name];
      of[name] = { async [name]() { refused(); } }[name];
    }
  }
  modules.dns = Object.assign(dns('dns'), { ADDRCONFIG: 32, ALL: 16, V4MAPPED: 8, promises: resolving });
  modules['dns/promises'] = resolving;

  const constants = {};
  for (const name of ':status :method :authority :scheme :path :protocol accept-encoding accept-language accept-ranges accept access-control-allow-credentials access-control-allow-headers access-control-allow-methods access-control-allow-origin access-control-expose-headers access-control-request-headers access-control-request-method age authorization cache-control connection content-disposition content-encoding content-length content-type cookie date etag forwarded host if-modified-since if-none-match if-range last-modified link location range referer server set-cookie strict-transport-security transfer-encoding te upgrade-insecure-requests upgrade user-agent vary x-content-type-options x-frame-options keep-alive proxy-connection x-xss-protection alt-svc content-security-policy early-data expect-ct origin purpose timing-allow-origin x-forwarded-for priority accept-charset access-control-max-age allow content-language content-location content-md5 content-range dnt expect expires from if-match if-unmodified-since max-forwards prefer proxy-authenticate proxy-authorization refresh retry-after trailer tk via warning www-authenticate http2-settings'.split(' ')) {
    constants[`HTTP2_HEADER_${name.replace(':', '').replaceAll('-', '_').toUpperCase()}`] = name;
  }
  for (const name of 'ACL BIND CONNECT COPY DELETE GET HEAD LINK LOCK MERGE MKCOL MOVE OPTIONS PATCH POST PROPFIND PROPPATCH PUT REPORT SEARCH TRACE UNLINK UNLOCK UPDATE VERSION-CONTROL'.split(' ')) constants[`HTTP2_METHOD_${name.replaceAll('-', '_')}`] = name;
  for (const [code, text] of Object.entries(modules.http.STATUS_CODES)) constants[`HTTP_STATUS_${code === '418' ? 'TEAPOT' : text.toUpperCase().replaceAll("'", '').replace(/[^A-Z]+/g, '_')}`] = Number(code);
  'NO_ERROR PROTOCOL_ERROR INTERNAL_ERROR FLOW_CONTROL_ERROR SETTINGS_TIMEOUT STREAM_CLOSED FRAME_SIZE_ERROR REFUSED_STREAM CANCEL COMPRESSION_ERROR CONNECT_ERROR ENHANCE_YOUR_CALM INADEQUATE_SECURITY HTTP_1_1_REQUIRED'.split(' ').forEach((name, i) => { constants[`NGHTTP2_${name}`] = i; });
  modules.http2 = refusing({ constants, sensitiveHeaders: Symbol('nodejs.http2.sensitiveHeaders') }, 'http2', 'use fetch, http or https',
    'connect', 'createServer', 'createSecureServer', 'getDefaultSettings', 'getPackedSettings', 'getUnpackedSettings', 'performServerHandshake', 'Http2ServerRequest', 'Http2ServerResponse');

  const noProcesses = 'it starts no processes';
  modules.child_process = refusing({}, 'child_process', noProcesses, 'exec', 'execSync', 'execFile', 'execFileSync', 'spawn', 'spawnSync', 'fork', 'ChildProcess');
  modules.cluster = refusing(Object.assign(new EventEmitter(), {
    isMaster: true, isPrimary: true, isWorker: false, workers: {}, settings: {}, SCHED_NONE: 1, SCHED_RR: 2, schedulingPolicy: 2,
  }), 'cluster', noProcesses, 'fork', 'setupMaster', 'setupPrimary', 'disconnect', 'Worker');

  const environment = new Map();
  modules.worker_threads = inert(refusing({
    isMainThread: true, isInternalThread: false, parentPort: null, workerData: null, threadId: 0, threadName: '', resourceLimits: {}, SHARE_ENV: Symbol('nodejs.worker_threads.SHARE_ENV'),
    MessageChannel: globalThis.MessageChannel, MessagePort: globalThis.MessagePort, isMarkedAsUntransferable: () => false,
    getEnvironmentData: (key) => environment.get(key), setEnvironmentData(key, value) { if (value === undefined) environment.delete(key); else environment.set(key, value); },
  }, 'worker_threads', 'it has one thread', 'Worker', 'BroadcastChannel', 'moveMessagePortToContext', 'receiveMessageOnPort', 'postMessageToThread'), 'markAsUntransferable', 'markAsUncloneable');

  modules.vm = refusing({ constants: { __proto__: null }, isContext: () => false }, 'vm', 'it compiles no code from strings',
    'createContext', 'createScript', 'runInContext', 'runInNewContext', 'runInThisContext', 'compileFunction', 'measureMemory', 'SourceTextModule', 'SyntheticModule');
  // Libraries make scripts while they load and run them only if they need to.
  modules.vm.Script = class Script {};
  refusing(modules.vm.Script.prototype, 'vm.Script', 'it compiles no code from strings', 'runInThisContext', 'runInContext', 'runInNewContext', 'createCachedData');
  const noEngine = 'the engine is not V8';
  const heap = ['total_heap_size', 'total_heap_size_executable', 'total_physical_size', 'total_available_size', 'used_heap_size', 'heap_size_limit', 'malloced_memory', 'peak_malloced_memory', 'does_zap_garbage', 'number_of_native_contexts', 'number_of_detached_contexts', 'total_global_handles_size', 'used_global_handles_size', 'external_memory'];
  modules.v8 = inert(refusing({
    getHeapStatistics: () => Object.fromEntries(heap.map((name) => [name, 0])), getHeapSpaceStatistics: () => [], cachedDataVersionTag: () => 0,
    startupSnapshot: { __proto__: null, isBuildingSnapshot: () => false },
  }, 'v8', noEngine, 'getHeapSnapshot', 'writeHeapSnapshot', 'getHeapCodeStatistics', 'queryObjects', 'takeCoverage', 'stopCoverage', 'GCProfiler'),
  'setFlagsFromString', 'setHeapSnapshotNearHeapLimit');
  const inspector = (of) => refusing({ url() {}, close() {}, console: globalThis.console }, of, 'nothing can attach to it', 'open', 'waitForDebugger', 'Session');
  modules.inspector = inspector('inspector');
  modules['inspector/promises'] = inspector('inspector/promises');
  modules.domain = refusing({ active: null }, 'domain', 'use try and catch', 'create', 'createDomain', 'Domain');
  modules.repl = refusing({ builtinModules: modules.module.builtinModules }, 'repl', 'there is no terminal', 'start', 'REPLServer', 'Recoverable');
  modules.wasi = refusing({}, 'wasi', 'it has no WebAssembly', 'WASI');
  modules.trace_events = refusing({ getEnabledCategories() {} }, 'trace_events', noEngine, 'createTracing');

  internal.absent = new Set(['child_process', 'cluster', 'dgram', 'dns', 'dns/promises', 'domain', 'http2', 'inspector', 'inspector/promises', 'net', 'repl', 'tls', 'trace_events', 'v8', 'vm', 'wasi', 'worker_threads'].map((name) => modules[name]));

  // The old module has all constants in one.
  const { dlopen, errno, priority, signals } = modules.os.constants;
  modules.constants = Object.freeze({ ...dlopen, ...errno, ...priority, ...signals, ...modules.fs.constants, ...modules.crypto.constants });

  // Punycode according to RFC 3492.
  const base = 36, tMin = 1, tMax = 26, skew = 38, damp = 700;
  const invalid = (what) => { throw new RangeError(what); };
  const adapt = (delta, length, first) => {
    let k = 0;
    delta = first ? Math.floor(delta / damp) : delta >> 1;
    delta += Math.floor(delta / length);
    for (; delta > (base - tMin) * tMax >> 1; k += base) delta = Math.floor(delta / (base - tMin));
    return Math.floor(k + (base - tMin + 1) * delta / (delta + skew));
  };
  const threshold = (k, bias) => Math.min(Math.max(k - bias, tMin), tMax);
  const ucs2 = {
    decode(text) {
      const out = [];
      for (let i = 0; i < text.length; i++) {
        const point = text.codePointAt(i);
        out.push(point);
        if (point > 0xffff) i++;
      }
      return out;
    },
    encode: (points) => points.map((point) => String.fromCodePoint(point)).join(''),
  };
  const decode = (text) => {
    const out = [], basic = Math.max(text.lastIndexOf('-'), 0);
    for (let i = 0; i < basic; i++) {
      if (text.charCodeAt(i) >= 0x80) invalid('Illegal input >= 0x80 (not a basic code point)');
      out.push(text.charCodeAt(i));
    }
    let n = 128, at = 0, bias = 72;
    for (let i = basic > 0 ? basic + 1 : 0; i < text.length;) {
      const before = at;
      for (let w = 1, k = base; ; k += base) {
        if (i >= text.length) invalid('Invalid input');
        const digit = parseInt(text[i], 36), value = Number.isNaN(digit) ? base : digit < 10 ? digit + 26 : digit - 10;
        i++;
        if (value >= base) invalid('Invalid input');
        if (value > Math.floor((0x7fffffff - at) / w)) invalid('Overflow: input needs wider integers to process');
        at += value * w;
        const t = threshold(k, bias);
        if (value < t) break;
        if (w > Math.floor(0x7fffffff / (base - t))) invalid('Overflow: input needs wider integers to process');
        w *= base - t;
      }
      const length = out.length + 1;
      bias = adapt(at - before, length, before === 0);
      n += Math.floor(at / length);
      if (n > 0x10ffff) invalid('Overflow: input needs wider integers to process');
      at %= length;
      out.splice(at++, 0, n);
    }
    return ucs2.encode(out);
  };
  const digitOf = (value) => String.fromCharCode(value < 26 ? 97 + value : 22 + value);
  const encode = (text) => {
    const points = ucs2.decode(text);
    let out = ucs2.encode(points.filter((point) => point < 128)), n = 128, delta = 0, bias = 72;
    const basic = out.length;
    let handled = basic;
    if (basic > 0) out += '-';
    for (; handled < points.length; delta++, n++) {
      let next = 0x7fffffff;
      for (const point of points) if (point >= n && point < next) next = point;
      if (next - n > Math.floor((0x7fffffff - delta) / (handled + 1))) invalid('Overflow: input needs wider integers to process');
      delta += (next - n) * (handled + 1);
      n = next;
      for (const point of points) {
        if (point < n) delta++;
        if (point !== n) continue;
        let q = delta;
        for (let k = base; ; k += base) {
          const t = threshold(k, bias);
          if (q < t) break;
          out += digitOf(t + (q - t) % (base - t));
          q = Math.floor((q - t) / (base - t));
        }
        out += digitOf(q);
        bias = adapt(delta, handled + 1, handled === basic);
        delta = 0;
        handled++;
      }
    }
    return out;
  };
  const labels = (domain, f) => {
    const [, local, rest] = /^(?:(.*?)@)?(.*)$/s.exec(domain);
    return (local === undefined ? '' : local + '@') + rest.replace(/[\x2E\u3002\uFF0E\uFF61]/g, '.').split('.').map(f).join('.');
  };
  modules.punycode = {
    version: '2.1.0', ucs2, decode, encode,
    toASCII: (domain) => labels(domain, (label) => /[^\0-\x7F]/.test(label) ? 'xn--' + encode(label) : label),
    toUnicode: (domain) => labels(domain, (label) => label.startsWith('xn--') ? decode(label.slice(4).toLowerCase()) : label),
  };
  return internal;
}
