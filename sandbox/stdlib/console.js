// console: five levels, each call one log entry on the host.
(host, internal) => {
  'use strict';
  const { p, op, define } = internal;
  const levels = ['log', 'info', 'warn', 'error', 'debug'];

  const format = (args) => {
    let text = '';
    for (let i = 0; i < args.length; i++) {
      if (i > 0) text += ' ';
      text += typeof args[i] === 'string' ? args[i] : internal.inspect(args[i]);
    }
    return text;
  };

  const console = {};
  for (let level = 0; level < levels.length; level++) {
    define(console, levels[level], {
      [levels[level]](...args) { host(op.log, level, format(args), 0); },
    }[levels[level]]);
  }
  define(console, Symbol.toStringTag, 'console');
  define(globalThis, 'console', console);
  internal.format = format;
  return internal;
}
