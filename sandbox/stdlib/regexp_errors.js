// The pattern in the errors of RegExp. The engine's messages lack it, and the host reads it only where the code spells it
// out. Code that may show the error of a computed pattern gets a RegExp that knows the pattern.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const head = 'Invalid regular expression: ', ends = 'Unterminated group', order = 'dgimsuvy';

  const lastIndex = (text, c) => {
    for (let i = text.length - 1; i >= 0; i--) if (text[i] === c) return i;
    return -1;
  };
  // named returns the error of the engine with the pattern, as V8 words it, or any other value as it is.
  const named = (e, pattern, flags) => {
    if (typeof pattern !== 'string' || flags !== undefined && typeof flags !== 'string' || !internal.isError(e)) return e;
    const message = p.getOwnPropertyDescriptor(e, 'message')?.value;
    if (message === `${p.slice(head, 0, -2)} flags`) return new p.SyntaxError(`Invalid flags supplied to RegExp constructor '${flags}'`);
    const general = message === 'syntax error'; // of a repetition without anything before it
    if (typeof message !== 'string' || !general && (!p.startsWith(message, head) || message[head.length] === '/')) return e;
    let why = general ? 'Nothing to repeat' : p.slice(message, head.length), sorted = '';
    if (why === '\\ at end of pattern' || why === ends) {
      if (lastIndex(pattern, '[') > lastIndex(pattern, ']')) why = 'Unterminated character class';
    }
    for (let i = 0; i < order.length; i++) if (flags !== undefined && p.indexOf(flags, order[i]) >= 0) sorted += order[i];
    return new p.SyntaxError(`${head}/${pattern}/${sorted}: ${why}`);
  };

  internal.namePatterns = () => {
    const native = internal.regExp ?? p.RegExp, { prototype } = p.RegExp;
    const own = function RegExp(pattern, flags) {
      if (new.target === undefined && flags === undefined && internal.isRegExp(pattern) && pattern.constructor === own) return pattern;
      try { return p.construct(native, [pattern, flags], new.target ?? own); } catch (e) { throw named(e, pattern, flags); }
    };
    p.setPrototypeOf(own, p.RegExp);
    p.defineProperty(own, 'prototype', { __proto__: null, value: prototype, writable: false });
    define(prototype, 'constructor', own);
    define(globalThis, 'RegExp', own);
  };
  return internal;
}
