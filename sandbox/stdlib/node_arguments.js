// Node's util.parseArgs.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const invalid = (message) => nodeError(TypeError, 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE', message);

  // tokensOf splits the arguments into options, positionals and the terminator. A group of short options is expanded, and
  // its members keep the group's index.
  const tokensOf = (args, options) => {
    const isString = (name) => Object.hasOwn(options, name) && options[name].type === 'string';
    const longOf = (short) => Object.keys(options).find((name) => options[name].short === short) ?? short;
    const tokens = [], rest = args.map((text, index) => ({ text: String(text), index }));
    const option = (name, rawName, index) => {
      const next = isString(name) && rest.length > 0 ? rest.shift().text : undefined;
      tokens.push({ kind: 'option', name, rawName, index, value: next, inlineValue: next === undefined ? undefined : false });
    };
    while (rest.length > 0) {
      const { text, index } = rest.shift();
      if (text === '--') {
        tokens.push({ kind: 'option-terminator', index });
        for (const { text: value, index: at } of rest) tokens.push({ kind: 'positional', index: at, value });
        break;
      }
      const equals = text.indexOf('=', 3);
      if (text.startsWith('--') && equals > 0) {
        tokens.push({ kind: 'option', name: text.slice(2, equals), rawName: text.slice(0, equals), index, value: text.slice(equals + 1), inlineValue: true });
      } else if (text.startsWith('--')) option(text.slice(2), text, index);
      else if (text.length < 2 || text[0] !== '-') tokens.push({ kind: 'positional', index, value: text });
      else if (text.length === 2) option(longOf(text[1]), text, index);
      else if (isString(longOf(text[1]))) {
        tokens.push({ kind: 'option', name: longOf(text[1]), rawName: text.slice(0, 2), index, value: text.slice(2), inlineValue: true });
      } else {
        const group = [];
        for (let i = 1; i < text.length; i++) {
          const last = isString(longOf(text[i])) || i === text.length - 1;
          group.push({ text: last ? `-${text.slice(i)}` : `-${text[i]}`, index });
          if (last) break;
        }
        rest.unshift(...group);
      }
    }
    return tokens;
  };

  // check throws if strict parsing permits no such token.
  const check = (token, options, allowPositionals) => {
    const { name, rawName, value, inlineValue } = token;
    if (!Object.hasOwn(options, name)) {
      const hint = allowPositionals ? `. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- ${JSON.stringify(rawName)}` : '';
      throw nodeError(TypeError, 'ERR_PARSE_ARGS_UNKNOWN_OPTION', `Unknown option '${rawName}'${hint}`);
    }
    const { short, type } = options[name], shown = `${short === undefined ? '' : `-${short}, `}--${name}`;
    if (type === 'string' && value === undefined) throw invalid(`Option '${shown} <value>' argument missing`);
    if (type === 'boolean' && value !== undefined) throw invalid(`Option '${shown}' does not take an argument`);
    if (inlineValue === false && value.length > 1 && value[0] === '-') {
      const example = rawName.startsWith('--') ? `'${rawName}=-XYZ'` : `'--${name}=-XYZ' or '${rawName}-XYZ'`;
      throw invalid(`Option '${rawName}' argument is ambiguous.\nDid you forget to specify the option argument for '${rawName}'?\nTo specify an option argument starting with a dash use ${example}.`);
    }
  };

  modules.util.parseArgs = function parseArgs(config = {}) {
    const { args = globalThis.process.argv.slice(2), options = {}, strict = true, allowNegative = false } = config;
    const { allowPositionals = !strict } = config;
    for (const name of Object.keys(options)) {
      const { type, short, multiple } = options[name], given = options[name].default;
      if (type !== 'string' && type !== 'boolean') throw internal.nodeWrongType(`options.${name}.type`, "('string|boolean')", type);
      if (short !== undefined && (typeof short !== 'string' || short.length !== 1)) throw nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The property 'options.${name}.short' must be a single character. Received ${internal.inspect(short)}`);
      if (given === undefined) continue;
      if (multiple && !Array.isArray(given)) throw internal.nodeWrongType(`options.${name}.default`, 'an instance of Array', given);
      const odd = multiple ? given.findIndex((v) => typeof v !== type) : typeof given === type ? -1 : 0;
      if (odd >= 0) throw internal.nodeWrongType(`options.${name}.default${multiple ? `[${odd}]` : ''}`, `of type ${type}`, multiple ? given[odd] : given);
    }
    const values = Object.create(null), positionals = [], tokens = tokensOf(args, options);
    for (const token of tokens) {
      if (token.kind === 'positional') {
        if (!allowPositionals) throw nodeError(TypeError, 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL', `Unexpected argument '${token.value}'. This command does not take positional arguments`);
        positionals.push(token.value);
      }
      if (token.kind !== 'option') continue;
      const negative = allowNegative && token.value === undefined && token.name.startsWith('no-') && options[token.name.slice(3)]?.type === 'boolean';
      if (negative) token.name = token.name.slice(3);
      if (strict) check(token, options, allowPositionals);
      if (token.name === '__proto__') continue;
      const value = negative ? false : token.value ?? true;
      if (options[token.name]?.multiple) (values[token.name] ??= []).push(value);
      else values[token.name] = value;
    }
    for (const name of Object.keys(options)) if (values[name] === undefined && options[name].default !== undefined) values[name] = options[name].default;
    return config.tokens ? { values, positionals, tokens } : { values, positionals };
  };
  return internal;
}
