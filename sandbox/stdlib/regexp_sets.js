// The flag v of regular expressions. The engine accepts it and reads the pattern without Unicode, so a pattern is
// rewritten for the flag u: set operations become lookaheads, nested classes and strings become alternatives. What
// is exactly one code point long can be excluded by a lookahead, also where the engine matches backwards.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const at = p.uncurry(p.String.prototype.codePointAt);
  const syntax = '()[]{}/-|', punctuation = '&!#$%*+,.:;<=>?@^`~', escaped = '&!#%,:;<=>@`~';
  const has = (text, c) => c !== '' && p.indexOf(text, c) >= 0;

  // Properties of strings. Sequences that are formed like those of Unicode count as recommended ones.
  const pictures = '(?:\\p{Emoji_Modifier_Base}\\p{Emoji_Modifier}|\\p{Emoji}\\uFE0F|(?!\\p{RI})\\p{Emoji_Presentation})';
  const basic = '(?:(?!\\p{RI})\\p{Emoji_Presentation}|(?![0-9#*]|\\p{Emoji_Presentation})\\p{Emoji}\\uFE0F)';
  const pairs = '\\p{RI}{2}', keycaps = '[0-9#*]\\uFE0F\\u20E3', modified = '\\p{Emoji_Modifier_Base}\\p{Emoji_Modifier}';
  const joined = `${pictures}(?:\\u200D${pictures})+`;
  const tagged = '\\u{1F3F4}\\u{E0067}\\u{E0062}(?:\\u{E0065}\\u{E006E}\\u{E0067}|\\u{E0073}\\u{E0063}\\u{E0074}|' +
    '\\u{E0077}\\u{E006C}\\u{E0073})\\u{E007F}';
  const ofStrings = {
    __proto__: null, RGI_Emoji: `(?:${joined}|${keycaps}|${tagged}|${pairs}|${modified}|${basic})`, Basic_Emoji: basic,
    Emoji_Keycap_Sequence: keycaps, RGI_Modifier_Sequence: modified, RGI_Emoji_Modifier_Sequence: modified,
    RGI_Flag_Sequence: pairs, RGI_Emoji_Flag_Sequence: pairs, RGI_Emoji_Tag_Sequence: tagged, RGI_Emoji_ZWJ_Sequence: joined,
  };

  // rewrite returns the pattern for the flag u that matches what source matches with the flags letters.
  const rewrite = (source, letters) => {
    const ignoreCase = has(letters, 'i');
    let i = 0;
    const fail = (what) => {
      let sorted = '';
      for (let k = 0; k < 8; k++) if (has(letters, p.slice('dgimsuvy', k, k + 1))) sorted += p.slice('dgimsuvy', k, k + 1);
      throw new p.SyntaxError(`Invalid regular expression: /${source}/${sorted}: ${what}`);
    };
    const peek = (n) => p.slice(source, i, i + n);
    const quoted = (c) => (has('^$\\.*+?()[]{}|/-', c) ? `\\${c}` : c);
    const point = () => {
      const c = at(source, i);
      return p.slice(source, i, i + (c > 0xffff ? 2 : 1));
    };

    // escape reads what follows a backslash. Its kind is 'one' (a code point), 'set' or 'strings'.
    const escape = (inClass) => {
      const c = p.slice(source, i + 1, i + 2);
      let end = i + 2;
      if (c === 'p' || c === 'P' || c === 'u' && p.slice(source, end, end + 1) === '{') {
        const close = p.indexOf(source, '}', i);
        if (close > 0) end = close + 1;
      } else if (c === 'u') end += 4;
      else if (c === 'x') end += 2;
      else if (c === 'c') end += 1;
      else if (c !== '') end = i + 1 + (at(source, i + 1) > 0xffff ? 2 : 1);
      const text = p.slice(source, i, end), name = p.slice(text, 3, -1);
      i = end;
      if (c === 'u' && peek(2) === '\\u' && at(text, 2) !== 123) { // two halves of a code point
        const code = +`0x${p.slice(text, 2)}`, low = +`0x${p.slice(source, i + 2, i + 6)}`;
        if (code >= 0xd800 && code < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
          i += 6;
          return { __proto__: null, kind: 'one', text: text + p.slice(source, i - 6, i) };
        }
      }
      if (c === 'p' && ofStrings[name] !== undefined) return { __proto__: null, kind: 'strings', text: ofStrings[name] };
      if (c === 'P' && ofStrings[name] !== undefined) fail('Invalid property name');
      if (ignoreCase && (c === 'P' || c === 'W')) { // a complement is taken after case folding
        return { __proto__: null, kind: 'class', text: `[^${c === 'W' ? '\\w' : `\\p${p.slice(text, 2)}`}]` };
      }
      if (c !== '' && has('pPdDsSwW', c)) return { __proto__: null, kind: 'set', text };
      return { __proto__: null, kind: 'one', text: inClass && has(escaped, c) ? c : text };
    };

    // A set is what it has of the body of a class, of classes that are no such body (each with a bar in front), and of
    // strings, longest first.
    const empty = () => ({ __proto__: null, body: '', classes: '', strings: [], pattern: '', range: false });
    const isOne = (s) => s.strings.length === 0 && s.pattern === '';
    const one = (s) => {
      if (s.classes === '') return s.body === '' ? '[]' : `[${s.body}]`;
      if (s.body === '') return p.indexOf(s.classes, '|', 1) < 0 ? p.slice(s.classes, 1) : `(?:${p.slice(s.classes, 1)})`;
      return `(?:[${s.body}]${s.classes})`;
    };
    const whole = (s) => {
      if (isOne(s)) return one(s);
      let text = s.pattern, short = false;
      for (let k = 0; k < s.strings.length; k++) {
        if (s.strings[k].length === 0) short = true;
        else text += `|${s.strings[k].text}`;
      }
      if (s.body !== '' || s.classes !== '') text += `|${one(s)}`;
      return `(?:${p.slice(text, 1)}${short ? '|' : ''})`;
    };
    const addString = (s, text, length) => {
      let k = 0;
      for (; k < s.strings.length; k++) {
        if (s.strings[k].text === text) return;
        if (s.strings[k].length < length) break;
      }
      p.arraySplice(s.strings, k, 0, { __proto__: null, text, length });
    };
    const union = (a, b) => {
      a.body += b.body;
      a.classes += b.classes;
      a.pattern += b.pattern;
      for (let k = 0; k < b.strings.length; k++) addString(a, b.strings[k].text, b.strings[k].length);
    };
    const combine = (a, b, keeps) => {
      if (a.pattern !== '' || b.pattern !== '') fail('Set operations on properties of strings are not supported');
      const out = empty();
      if (a.body !== '' || a.classes !== '') out.classes = `|(?:(?${keeps ? '=' : '!'}${one(b)})${one(a)})`;
      for (let k = 0; k < a.strings.length; k++) {
        let found = false;
        for (let n = 0; n < b.strings.length; n++) found ||= b.strings[n].text === a.strings[k].text;
        if (found === keeps) addString(out, a.strings[k].text, a.strings[k].length);
      }
      return out;
    };

    // strings reads the alternatives of \q{...}. Alternatives give \b and \- other meanings than a class does.
    const inStrings = `bfnrtvcxu0^$\\.*+?()[]{}|/-${escaped}`;
    const strings = () => {
      const out = empty();
      i += 3;
      for (let text = '', length = 0; ;) {
        const c = peek(1);
        if (c === '') fail('Invalid escape');
        if (c === '|' || c === '}') {
          if (length === 1) out.body += text === '^' ? '\\^' : text;
          else addString(out, text, length);
          text = '';
          length = 0;
          i++;
          if (c === '}') return out;
        } else {
          if (c === '\\') {
            const escapee = p.slice(source, i + 1, i + 2), read = escape(true);
            if (has('123456789', escapee)) fail('Invalid class escape');
            if (read.kind !== 'one' || !has(inStrings, escapee)) fail('Invalid escape');
            if (escapee === 'b') text += '\\x08';
            else text += escapee === '-' ? '\\x2d' : quoted(read.text.length === 1 ? read.text : '') || read.text;
          } else {
            text += quoted(point());
            i += point().length;
          }
          length++;
        }
      }
    };

    // operand reads one operand: a class, an escape, a range if it may be one, or a code point.
    const operand = (ranges) => {
      const out = empty();
      const c = peek(1);
      if (c === '[') return classOf();
      if (peek(3) === '\\q{') return strings();
      const bound = () => {
        if (peek(1) === '\\') return escape(true);
        const text = point();
        if (has(syntax, text)) fail('Invalid character in character class');
        if (has(punctuation, text) && peek(2) === text + text) fail('Invalid set operation in character class');
        i += text.length;
        return { __proto__: null, kind: 'one', text: text === '^' ? '\\^' : text };
      };
      const first = bound();
      if (first.kind === 'strings') out.pattern = `|${first.text}`;
      else if (first.kind === 'class') out.classes = `|${first.text}`;
      else out.body = first.text;
      if (peek(1) === '-' && peek(2) !== '--') {
        if (!ranges) fail('Invalid set operation in character class');
        i++;
        const last = bound();
        if (first.kind !== 'one' || last.kind !== 'one') fail('Invalid character class');
        out.body += `-${last.text}`;
        out.range = true;
      }
      return out;
    };

    // classOf reads a class from its bracket on.
    const classOf = () => {
      i++;
      const negated = peek(1) === '^';
      if (negated) i++;
      let set = empty(), operator = '';
      for (let n = 0; peek(1) !== ']'; n++) {
        if (i >= source.length) fail('Unterminated character class');
        const two = peek(2);
        if (two === '--' || two === '&&') {
          if (n === 0 || operator !== two && (operator !== '' || n > 1)) fail('Invalid set operation in character class');
          operator = two;
          i += 2;
          if (peek(1) === '&') fail('Invalid character in character class');
          set = combine(set, operand(false), two === '&&');
        } else {
          if (operator !== '') fail('Invalid set operation in character class');
          const next = operand(true);
          if ((n > 0 || next.range) && (peek(2) === '--' || peek(2) === '&&')) fail('Invalid set operation in character class');
          union(set, next);
        }
      }
      i++;
      if (!negated) return set;
      if (!isOne(set)) fail('Negated character class may contain strings');
      const out = empty();
      out.classes = set.classes === '' ? `|[^${set.body}]` : `|(?:(?!${one(set)})[^])`;
      return out;
    };

    let text = '';
    while (i < source.length) {
      const c = peek(1);
      if (c === '[') text += whole(classOf());
      else if (c === '\\') text += escape(false).text;
      else {
        text += c;
        i++;
      }
    }
    return text;
  };

  // Of a regular expression with the flag v, made holds the pattern as it was written.
  const made = new p.WeakMap();
  const { prototype } = p.RegExp;
  const getter = (name) => p.getOwnPropertyDescriptor(prototype, name).get;
  const source = getter('source'), unicode = getter('unicode'), unicodeSets = getter('unicodeSets'), flags = p.getter(prototype, 'flags');
  // escapedSource returns a pattern as it would stand in a literal.
  const escapedSource = (text) => {
    if (text === '') return '(?:)';
    let out = '', open = 0;
    for (let k = 0; k < text.length; k++) {
      const c = text[k];
      if (c === '\\') {
        out += c + (text[++k] ?? '');
        continue;
      }
      if (c === '[') open++;
      else if (c === ']') open--;
      out += c === '\n' ? '\\n' : c === '\r' ? '\\r' : c === '/' && open <= 0 ? '\\/' : c;
    }
    return out;
  };

  // addSets gives the code RegExp with the flag v. It costs each new regular expression time, so only code that mentions
  // the flag has it.
  let added = false;
  // rewritten is rewrite with the last results of short patterns: a literal in a loop makes a new object each time.
  const last = new p.Map(), short = 1024, most = 32;
  const rewritten = (text, letters) => {
    if (text.length > short) return rewrite(text, letters);
    const key = `${letters}/${text}`;
    let out = p.mapGet(last, key);
    if (out === undefined) {
      out = rewrite(text, letters);
      if (p.mapSize(last) === most) p.mapClear(last);
      p.mapSet(last, key, out);
    }
    return out;
  };
  internal.writtenPattern = (v) => p.weakMapGet(made, v);
  internal.addSets = () => {
    if (added) return;
    added = true;
    const native = p.RegExp;
    try {
      if (p.regexpExec(new native('\\p{L}', 'v'), '\u00e9') !== null) return; // an engine that knows the flag
    } catch { /* the engine does not take the flag */ }
    const make = (pattern, options, target) => {
      let written = pattern, wanted = options;
      if (internal.isRegExp(pattern)) {
        if (p.weakMapHas(made, pattern)) written = p.weakMapGet(made, pattern);
        else if (wanted !== undefined) written = pattern.source;
        if (wanted === undefined) wanted = flags(pattern);
      }
      const letters = wanted === undefined ? '' : `${wanted}`, v = p.indexOf(letters, 'v');
      if (v < 0) return p.construct(native, [written, letters], target);
      const text = written === undefined ? '' : `${written}`;
      if (has(letters, 'u') || p.indexOf(letters, 'v', v + 1) >= 0) throw new p.SyntaxError(`Invalid flags supplied to RegExp constructor '${letters}'`);
      const out = p.construct(native, [rewritten(text, letters), `${p.slice(letters, 0, v)}u${p.slice(letters, v + 1)}`], target);
      p.weakMapSet(made, out, text);
      return out;
    };
    internal.makeRegExp = (pattern, options) => make(pattern, options, sets);
    const sets = function RegExp(pattern, flags) {
      if (new.target === undefined && flags === undefined && internal.isRegExp(pattern) && pattern.constructor === sets) return pattern;
      return make(pattern, flags, new.target ?? sets);
    };
    p.setPrototypeOf(sets, native);
    p.defineProperty(sets, 'prototype', { __proto__: null, value: prototype, writable: false });
    define(prototype, 'constructor', sets);
    define(globalThis, 'RegExp', sets);
    internal.regExp = sets;
    const get = (name, read) => p.defineProperty(prototype, name, { __proto__: null, get: p.getOwnPropertyDescriptor({ get [name]() { return read(this); } }, name).get });
    const isMade = (v) => typeof v === 'object' && v !== null && p.weakMapHas(made, v);
    get('unicodeSets', (v) => isMade(v) || p.apply(unicodeSets, v, []));
    get('unicode', (v) => !isMade(v) && p.apply(unicode, v, []));
    get('source', (v) => (isMade(v) ? escapedSource(p.weakMapGet(made, v)) : p.apply(source, v, [])));
  };
  return internal;
}
