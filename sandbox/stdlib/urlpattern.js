// URLPattern. The host canonicalizes the literal text of a pattern; the engine's regular expressions match.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const PROTOCOL = 2, USERNAME = 3, PASSWORD = 4, HOSTNAME = 6, PORT = 7, PATHNAME = 8, SEARCH = 9, HASH = 10;
  const names = ['protocol', 'username', 'password', 'hostname', 'port', 'pathname', 'search', 'hash'];
  const ports = { __proto__: null, http: '80', https: '443', ws: '80', wss: '443', ftp: '21', file: '' };
  const schemes = p.keys(ports);
  const codePointAt = p.uncurry(p.String.prototype.codePointAt);

  const invalid = (why) => {
    const e = new p.TypeError(`Invalid URL pattern: ${why}`);
    internal.define(e, 'code', 'ERR_INVALID_URL_PATTERN');
    return e;
  };

  // Tokens of a pattern string: each has a type, the index at which it begins, and a value.
  const isStart = /[$_\p{ID_Start}]/u, isPart = /[$_\u200c\u200d\p{ID_Continue}]/u;
  const characterAt = (s, i) => codePointAt(s, i) > 0xffff ? p.slice(s, i, i + 2) : s[i];
  const inName = (c, first) => p.regexpExec(first ? isStart : isPart, c) !== null;
  // endOfGroup returns the end of a regular expression in parentheses that begins at start, or -1.
  const endOfGroup = (s, start) => {
    let depth = 1;
    for (let i = start; i < s.length; i++) {
      if (s[i] > '\x7f' || (i === start && s[i] === '?')) return -1;
      if (s[i] === '\\') {
        if (++i === s.length || s[i] > '\x7f') return -1;
      } else if (s[i] === ')') {
        if (--depth === 0) return i === start ? -1 : i;
      } else if (s[i] === '(') {
        depth++;
        if (s[i + 1] !== '?') return -1;
      }
    }
    return -1;
  };
  const tokenize = (s, lenient) => {
    const tokens = [];
    let at = 0;
    const add = (type, next, from, to) => {
      if (type === 'invalid' && !lenient) throw invalid(`it has an error at ${at}`);
      p.arrayPush(tokens, { __proto__: null, type, at, value: p.slice(s, from, to) });
      at = next;
    };
    while (at < s.length) {
      const c = characterAt(s, at), next = at + c.length;
      if (c === '*') add('asterisk', next, at, next);
      else if (c === '+' || c === '?') add('modifier', next, at, next);
      else if (c === '{') add('open', next, at, next);
      else if (c === '}') add('close', next, at, next);
      else if (c === '\\') {
        if (next === s.length) add('invalid', next, at, next);
        else {
          const end = next + characterAt(s, next).length;
          add('escaped', end, next, end);
        }
      } else if (c === ':') {
        let end = next;
        while (end < s.length) {
          const part = characterAt(s, end);
          if (!inName(part, end === next)) break;
          end += part.length;
        }
        if (end === next) add('invalid', next, at, next);
        else add('name', end, next, end);
      } else if (c === '(') {
        const end = endOfGroup(s, next);
        if (end < 0) add('invalid', next, at, next);
        else add('regexp', end + 1, next, end);
      } else add('char', next, at, next);
    }
    add('end', at, at, at);
    return tokens;
  };

  // escape puts a backslash in front of each character of s that is among special.
  const escape = (s, special) => {
    let out = '', from = 0;
    for (let i = 0; i < s.length; i++) {
      if (p.indexOf(special, s[i]) < 0) continue;
      out += p.slice(s, from, i) + '\\';
      from = i;
    }
    return out + p.slice(s, from);
  };
  const inRegExp = (s) => escape(s, '.+*?^${}()[]|/\\'), inPattern = (s) => escape(s, '+*?:{}()\\');

  // Options of a component: the separator of its segments, and the character that can be the prefix of a group.
  const options = (delimiter, prefix) => ({ __proto__: null, delimiter, prefix, segment: `[^${inRegExp(delimiter)}]+?` });
  const plain = options('', ''), ofHost = options('.', ''), ofPath = options('/', '/');

  // parts parses a pattern string. encode canonicalizes literal text.
  const partsOf = (input, { prefix: automatic, segment }, encode) => {
    const tokens = tokenize(input, false), parts = [], used = new p.Set();
    let at = 0, pending = '', number = 0;
    const take = (type) => tokens[at].type === type ? tokens[at++] : null;
    const push = (type, value, modifier, name, prefix, suffix) => { p.arrayPush(parts, { __proto__: null, type, value, modifier, name, prefix, suffix }); };
    const flush = () => {
      if (pending === '') return;
      const text = pending;
      pending = '';
      push('fixed', encode(text), '', '', '', '');
    };
    const need = (type) => {
      if (take(type) === null) throw invalid(`it has an unexpected ${tokens[at].type === 'end' ? 'end' : `"${tokens[at].value}" at ${tokens[at].at}`}`);
    };
    const text = () => {
      let out = '';
      for (;;) {
        const token = take('char') ?? take('escaped');
        if (token === null) return out;
        out += token.value;
      }
    };
    const add = (prefix, name, group, suffix) => {
      const modifier = (take('modifier') ?? take('asterisk'))?.value ?? '';
      if (name === null && group === null) {
        if (modifier === '') pending += prefix;
        else {
          flush();
          if (prefix !== '') push('fixed', encode(prefix), modifier, '', '', '');
        }
        return;
      }
      flush();
      let type = 'regexp', value = group === null ? segment : group.type === 'asterisk' ? '.*' : group.value;
      if (value === segment) type = 'segment';
      else if (value === '.*') type = 'wildcard';
      if (type !== 'regexp') value = '';
      const called = name !== null ? name.value : `${number++}`;
      if (p.setHas(used, called)) throw invalid(`it has two groups called ${called}`);
      p.setAdd(used, called);
      push(type, value, modifier, called, encode(prefix), encode(suffix));
    };
    const group = (name) => take('regexp') ?? (name === null ? take('asterisk') : null);
    while (at < tokens.length) {
      const char = take('char'), name = take('name'), expression = group(name);
      if (name !== null || expression !== null) {
        let prefix = char === null ? '' : char.value;
        if (prefix !== automatic) {
          pending += prefix;
          prefix = '';
        }
        flush();
        add(prefix, name, expression, '');
        continue;
      }
      const fixed = char ?? take('escaped');
      if (fixed !== null) {
        pending += fixed.value;
        continue;
      }
      if (take('open') !== null) {
        const prefix = text(), inner = take('name'), within = group(inner), suffix = text();
        need('close');
        add(prefix, inner, within, suffix);
        continue;
      }
      flush();
      need('end');
    }
    return parts;
  };

  const expression = (parts, { segment }) => {
    let out = '^';
    for (let i = 0; i < parts.length; i++) {
      const { type, value, modifier, prefix, suffix } = parts[i];
      if (type === 'fixed') {
        out += modifier === '' ? inRegExp(value) : `(?:${inRegExp(value)})${modifier}`;
        continue;
      }
      const inner = type === 'segment' ? segment : type === 'wildcard' ? '.*' : value, repeats = modifier === '*' || modifier === '+';
      if (prefix === '' && suffix === '') {
        out += repeats ? `((?:${inner})${modifier})` : `(${inner})${modifier}`;
        continue;
      }
      const before = inRegExp(prefix), after = inRegExp(suffix);
      out += repeats ? `(?:${before}((?:${inner})(?:${after}${before}(?:${inner}))*)${after})${modifier === '*' ? '?' : ''}` : `(?:${before}(${inner})${after})${modifier}`;
    }
    return out + '$';
  };

  const isDigit = (c) => c >= '0' && c <= '9';
  // patternOf returns the normalized pattern string of parts.
  const patternOf = (parts, { prefix: automatic, segment }) => {
    let out = '';
    for (let i = 0; i < parts.length; i++) {
      const { type, value, modifier, name, prefix, suffix } = parts[i];
      const before = i > 0 ? parts[i - 1] : null, next = i < parts.length - 1 ? parts[i + 1] : null;
      if (type === 'fixed') {
        out += modifier === '' ? inPattern(value) : `{${inPattern(value)}}${modifier}`;
        continue;
      }
      const named = !isDigit(name[0]);
      let grouped = suffix !== '' || (prefix !== '' && prefix !== automatic);
      if (!grouped && named && type === 'segment' && modifier === '' && next !== null && next.prefix === '' && next.suffix === '') {
        grouped = next.type === 'fixed' ? inName(characterAt(next.value, 0), false) : isDigit(next.name[0]);
      }
      if (!grouped && prefix === '' && before !== null && before.type === 'fixed' && automatic !== '' && p.endsWith(before.value, automatic)) grouped = true;
      let text = inPattern(prefix) + (named ? `:${name}` : '');
      if (type === 'regexp') text += `(${value})`;
      else if (type === 'segment' && !named) text += `(${segment})`;
      else if (type === 'wildcard') {
        const bare = before === null || before.type === 'fixed' || before.modifier !== '' || grouped || prefix !== '';
        text += !named && bare ? '*' : '(.*)';
      }
      if (type === 'segment' && named && suffix !== '' && inName(characterAt(suffix, 0), false)) text += '\\';
      text += inPattern(suffix);
      out += (grouped ? `{${text}}` : text) + modifier;
    }
    return out;
  };

  const compile = (input, encode, options, ignoreCase) => {
    const parts = partsOf(input, options, encode), groups = [];
    let custom = false, regexp;
    for (let i = 0; i < parts.length; i++) {
      if (parts[i].type !== 'fixed') p.arrayPush(groups, parts[i].name);
      if (parts[i].type === 'regexp') custom = true;
    }
    try {
      regexp = new p.RegExp(expression(parts, options), ignoreCase ? 'ui' : 'u');
    } catch (e) { throw invalid(e.message); }
    return { __proto__: null, pattern: patternOf(parts, options), regexp, groups, custom };
  };

  // The encoders canonicalize text as the parser of URLs does.
  const dummy = 'https://dummy.invalid/';
  const set = (part, index, value, url = dummy) => {
    const parts = internal.sync('url.set', url, part, value);
    if (parts === null) throw invalid(`its ${part} is too long`);
    return parts[index];
  };
  const unless = (f) => (value, more) => value === '' ? value : f(value, more);
  const protocol = unless((value) => {
    const parts = internal.parseURL(`${value}://dummy.invalid/`);
    if (parts === null) throw invalid(`${value} is not a protocol`);
    return p.slice(parts[PROTOCOL], 0, -1);
  });
  const username = unless((value) => set('username', USERNAME, value)), password = unless((value) => set('password', PASSWORD, value));
  const hostname = unless((value) => {
    const found = set('hostname', HOSTNAME, value);
    if (found === 'dummy.invalid' && set('hostname', HOSTNAME, value, 'https://other.invalid/') !== found) throw invalid(`${value} is not a host name`);
    return found;
  });
  const address = unless((value) => {
    if (p.regexpExec(/[^0-9a-fA-F[\]:]/, value) !== null) throw invalid(`${value} is not an address`);
    return p.toLowerCase(value);
  });
  const port = unless((value, scheme) => {
    let digits = '';
    for (let i = 0; i < value.length; i++) {
      if (isDigit(value[i])) digits += value[i];
      else if (p.indexOf('\t\n\r', value[i]) < 0) break;
    }
    if (digits === '' || +digits > 65535) throw invalid(`${value} is not a port`);
    digits = `${+digits}`;
    return digits === ports[scheme] ? '' : digits;
  });
  const path = unless((value) => value[0] === '/' ? set('pathname', PATHNAME, value) : p.slice(set('pathname', PATHNAME, '/-' + value), 2));
  const opaque = unless((value) => {
    const end = p.regexpExec(/[?#]/, value)?.index ?? value.length;
    const parts = internal.parseURL(`data:-${p.slice(value, 0, end)}-`);
    if (parts === null) throw invalid('its pathname is too long');
    return p.slice(parts[PATHNAME], 1, -1);
  });
  const search = unless((value) => p.slice(set('search', SEARCH, '?' + value), 1)), hash = unless((value) => p.slice(set('hash', HASH, '#' + value), 1));

  const isSpecial = (scheme) => ports[scheme] !== undefined;
  const matchesSpecial = (component) => {
    for (let i = 0; i < schemes.length; i++) if (p.regexpExec(component.regexp, schemes[i]) !== null) return true;
    return false;
  };

  // A pattern of one string is divided among the components: rules holds, for each state, the tokens that end its
  // component.
  const rules = {
    __proto__: null,
    hostname: [[':', 'port', 1], ['/', 'pathname', 0], ['?', 'search', 1], ['#', 'hash', 1]],
    port: [['/', 'pathname', 0], ['?', 'search', 1], ['#', 'hash', 1]],
    pathname: [['?', 'search', 1], ['#', 'hash', 1]], search: [['#', 'hash', 1]], hash: [],
    username: [[':', 'password', 1], ['@', 'hostname', 1]], password: [['@', 'hostname', 1]],
  };
  const states = ['protocol', 'authority', 'username', 'password', 'hostname', 'port', 'pathname', 'search', 'hash'];
  const divide = (input) => {
    const tokens = tokenize(input, true), result = { __proto__: null };
    let start = 0, at = 0, step = 1, depth = 0, brackets = 0, special = false, state = 'init';
    const rewind = (to) => {
      at = start;
      step = 0;
      state = to ?? state;
    };
    const text = () => p.slice(input, tokens[p.min(start, tokens.length - 1)].at, tokens[at].at);
    const turn = (to, skip) => {
      if (state !== 'init' && state !== 'authority') result[state] = text();
      if (state !== 'init' && to !== 'done') {
        const from = p.arrayIndexOf(states, state), before = p.arrayIndexOf(states, to);
        if (from < 4 && before > 4) result.hostname ??= '';
        if (from < 6 && before > 6) result.pathname ??= special ? '/' : '';
        if (from < 7 && before > 7) result.search ??= '';
      }
      state = to;
      at += skip;
      start = at;
      step = 0;
    };
    const is = (i, c) => {
      const { type, value } = tokens[p.min(i, tokens.length - 1)];
      return value === c && (type === 'char' || type === 'escaped' || type === 'invalid');
    };
    const isSearch = () => {
      if (is(at, '?')) return true;
      if (tokens[at].value !== '?') return false;
      const before = at > 0 ? tokens[at - 1].type : '';
      return before !== 'name' && before !== 'regexp' && before !== 'close' && before !== 'asterisk';
    };
    const begins = (c) => c === '?' ? isSearch() : is(at, c);
    for (; at < tokens.length; at += step) {
      step = 1;
      const { type } = tokens[at];
      if (type === 'end') {
        if (state === 'init') {
          rewind();
          if (begins('#')) turn('hash', 1);
          else if (begins('?')) turn('search', 1);
          else turn('pathname', 0);
          continue;
        }
        if (state === 'authority') {
          rewind('hostname');
          continue;
        }
        turn('done', 0);
        break;
      }
      if (type === 'open') {
        depth++;
        continue;
      }
      if (depth > 0) {
        if (type !== 'close') continue;
        depth--;
      }
      if (state === 'init') {
        if (begins(':')) rewind('protocol');
      } else if (state === 'protocol') {
        if (!begins(':')) continue;
        special = matchesSpecial(compile(text(), protocol, plain, false));
        if (is(at + 1, '/') && is(at + 2, '/')) turn('authority', 3);
        else turn(special ? 'authority' : 'pathname', 1);
      } else if (state === 'authority') {
        if (begins('@')) rewind('username');
        else if (begins('/') || begins('?') || begins('#')) rewind('hostname');
      } else {
        if (state === 'hostname') {
          if (begins('[')) brackets++;
          else if (begins(']')) brackets--;
        }
        const ends = rules[state];
        for (let i = 0; i < ends.length; i++) {
          if (!begins(ends[i][0]) || (ends[i][1] === 'port' && brackets !== 0)) continue;
          turn(ends[i][1], ends[i][2]);
          break;
        }
      }
    }
    if (result.hostname !== undefined) result.port ??= '';
    return result;
  };

  // complete returns the components of init, completed by those of its base URL. The components of a pattern are
  // pattern strings; others are canonicalized.
  const complete = (init, isPattern) => {
    const result = { __proto__: null };
    let base = null;
    if (!isPattern) for (let i = 0; i < names.length; i++) result[names[i]] = '';
    if (init.baseURL !== undefined) {
      base = internal.parseURL(init.baseURL);
      if (base === null) throw invalid(`${init.baseURL} is not a URL`);
      const from = (value) => isPattern ? inPattern(value) : value;
      const { protocol, username, password, hostname, port, pathname, search, hash } = init;
      let given = protocol !== undefined;
      if (!given) result.protocol = from(p.slice(base[PROTOCOL], 0, -1));
      given ||= hostname !== undefined;
      if (!given) result.hostname = from(base[HOSTNAME]);
      given ||= port !== undefined;
      if (!given) result.port = base[PORT];
      if (!isPattern && !given && username === undefined) {
        result.username = base[USERNAME];
        if (password === undefined) result.password = base[PASSWORD];
      }
      given ||= pathname !== undefined;
      if (!given) result.pathname = from(base[PATHNAME]);
      given ||= search !== undefined;
      if (!given) result.search = from(p.slice(base[SEARCH], 1));
      if (!given && hash === undefined) result.hash = from(p.slice(base[HASH], 1));
    }
    const take = (name, encode, more, mark = '') => {
      let value = init[name];
      if (value === undefined) return;
      if (mark !== '' && value[0] === mark) value = p.slice(value, 1);
      result[name] = isPattern ? value : encode(value, more);
    };
    if (init.protocol !== undefined) {
      const value = p.endsWith(init.protocol, ':') ? p.slice(init.protocol, 0, -1) : init.protocol;
      result.protocol = isPattern ? value : protocol(value);
    }
    take('username', username);
    take('password', password);
    take('hostname', hostname);
    const scheme = result.protocol ?? '';
    take('port', port, scheme);
    if (init.pathname !== undefined) {
      let value = init.pathname;
      if (base !== null && (base[PATHNAME][0] === '/' || isSpecial(p.slice(base[PROTOCOL], 0, -1))) && !isAbsolute(value, isPattern)) {
        const under = isPattern ? inPattern(base[PATHNAME]) : base[PATHNAME];
        value = p.slice(under, 0, p.lastIndexOf(under, '/') + 1) + value;
      }
      result.pathname = isPattern ? value : scheme === '' || isSpecial(scheme) ? path(value) : opaque(value);
    }
    take('search', search, undefined, '?');
    take('hash', hash, undefined, '#');
    return result;
  };
  const isAbsolute = (s, isPattern) => s[0] === '/' || (isPattern && (s[0] === '\\' || s[0] === '{') && s[1] === '/');
  const isAddress = (s) => s[0] === '[' || ((s[0] === '{' || s[0] === '\\') && s[1] === '[');

  const members = ['baseURL', 'hash', 'hostname', 'password', 'pathname', 'port', 'protocol', 'search', 'username'];
  // inputOf converts an argument: a string, or a dictionary of components.
  const inputOf = (v) => {
    if (v !== undefined && v !== null && !internal.isObject(v)) return internal.usv(v);
    const init = { __proto__: null };
    if (v === undefined || v === null) return init;
    for (let i = 0; i < members.length; i++) {
      const value = v[members[i]];
      if (value !== undefined) init[members[i]] = internal.usv(value);
    }
    return init;
  };
  // dictionary returns an ordinary object with the members of o, which has no prototype.
  const dictionary = (o) => {
    const out = {}, keys = p.ownKeys(o);
    for (let i = 0; i < keys.length; i++) p.defineProperty(out, keys[i], internal.property(o[keys[i]], true));
    return out;
  };

  class URLPattern {
    #components;
    constructor(input = undefined, baseURL = undefined, options = undefined) {
      input = inputOf(input);
      if (arguments.length < 3 && (baseURL === undefined || internal.isObject(baseURL) || baseURL === null)) {
        options = baseURL;
        baseURL = undefined;
      } else baseURL = internal.usv(baseURL);
      const ignoreCase = !!internal.dictionary(options, 'URLPattern: the options').ignoreCase;
      let init = input;
      if (typeof input === 'string') {
        init = divide(input);
        if (baseURL !== undefined) init.baseURL = baseURL;
        else if (init.protocol === undefined) throw invalid('it is relative, and there is no base URL');
      } else if (baseURL !== undefined) throw invalid('its base URL belongs into the first argument');
      const given = complete(init, true);
      for (let i = 0; i < names.length; i++) given[names[i]] ??= '*';
      if (isSpecial(given.protocol) && given.port === ports[given.protocol]) given.port = '';
      const made = { __proto__: null };
      made.protocol = compile(given.protocol, protocol, plain, false);
      made.username = compile(given.username, username, plain, false);
      made.password = compile(given.password, password, plain, false);
      made.hostname = compile(given.hostname, isAddress(given.hostname) ? address : hostname, ofHost, false);
      made.port = compile(given.port, port, plain, false);
      const hierarchical = matchesSpecial(made.protocol);
      made.pathname = compile(given.pathname, hierarchical ? path : opaque, hierarchical ? ofPath : plain, ignoreCase);
      made.search = compile(given.search, search, plain, ignoreCase);
      made.hash = compile(given.hash, hash, plain, ignoreCase);
      this.#components = made;
    }
    get protocol() { return this.#components.protocol.pattern; }
    get username() { return this.#components.username.pattern; }
    get password() { return this.#components.password.pattern; }
    get hostname() { return this.#components.hostname.pattern; }
    get port() { return this.#components.port.pattern; }
    get pathname() { return this.#components.pathname.pattern; }
    get search() { return this.#components.search.pattern; }
    get hash() { return this.#components.hash.pattern; }
    get hasRegExpGroups() {
      for (let i = 0; i < names.length; i++) if (this.#components[names[i]].custom) return true;
      return false;
    }
    test(input = undefined, baseURL = undefined) { return match(this.#components, input, baseURL) !== null; }
    exec(input = undefined, baseURL = undefined) { return match(this.#components, input, baseURL); }
  }

  // valuesOf returns the components of a pattern's input, or null if the input is no URL.
  const valuesOf = (input, baseURL) => {
    if (typeof input !== 'string') {
      if (baseURL !== undefined) throw new p.TypeError('The base URL belongs into the first argument');
      try { return complete(input, false); } catch { return null; }
    }
    const url = internal.parseURL(input, baseURL);
    if (url === null) return null;
    return { __proto__: null, protocol: p.slice(url[PROTOCOL], 0, -1), username: url[USERNAME], password: url[PASSWORD], hostname: url[HOSTNAME], port: url[PORT], pathname: url[PATHNAME], search: p.slice(url[SEARCH], 1), hash: p.slice(url[HASH], 1) };
  };
  const match = (components, input, baseURL) => {
    input = inputOf(input);
    if (baseURL !== undefined) baseURL = internal.usv(baseURL);
    const values = valuesOf(input, baseURL);
    if (values === null) return null;
    const inputs = [typeof input === 'string' ? input : dictionary(input)], found = { __proto__: null };
    if (baseURL !== undefined) p.arrayPush(inputs, baseURL);
    for (let i = 0; i < names.length; i++) {
      const m = p.regexpExec(components[names[i]].regexp, values[names[i]]);
      if (m === null) return null;
      found[names[i]] = m;
    }
    const result = { inputs };
    for (let i = 0; i < names.length; i++) {
      const name = names[i], { groups: of } = components[name], groups = {};
      for (let j = 0; j < of.length; j++) p.defineProperty(groups, of[j], internal.property(found[name][j + 1], true));
      p.defineProperty(result, name, internal.property({ input: values[name], groups }, true));
    }
    return result;
  };
  internal.expose(URLPattern);
  return internal;
}
