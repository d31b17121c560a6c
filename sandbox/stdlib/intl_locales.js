// The patterns of locales, and the plural rules. The host has them for some 75 languages and their regions; guests fetch
// those of a locale when they first use it.
(host, internal) => {
  'use strict';
  const { p, intl } = internal;
  const kept = { __proto__: null };
  // dataOf returns the patterns of a kind, which locales.mjs describes, for a canonical tag, or undefined. A list may have only
  // what differs from that of another locale, which it names under <.
  const dataOf = intl.dataOf = (kind, tag) => {
    const key = `${kind} ${intl.base(tag)}`;
    if (key in kept) return kept[key];
    const text = internal.sync('intl.data', kind, intl.base(tag));
    const data = text === null ? undefined : bare(p.parse(text));
    return kept[key] = data?.['<'] === undefined ? data : merged(dataOf(kind, data['<']), data);
  };
  const merged = (parent, own) => {
    const list = [];
    for (let i = 0; i < parent.length; i++) p.arrayPush(list, own[i] === undefined ? parent[i] : own[i]);
    return list;
  };
  // bare removes the prototypes of objects, which guests can change.
  const bare = (v) => {
    if (typeof v !== 'object' || v === null) return v;
    if (!p.isArray(v)) p.setPrototypeOf(v, null);
    const names = p.keys(v);
    for (let i = 0; i < names.length; i++) bare(v[names[i]]);
    return v;
  };
  // known returns a lookup for intl.resolve: it returns the patterns of a kind for a tag.
  intl.known = (kind) => (tag) => dataOf(kind, tag);

  // A rule is that of CLDR: "i = 1 and v = 0 or n % 10 = 2..4,7". It is kept as alternatives of conditions.
  const read = (text) => {
    const out = [], alternatives = intl.split(text, ' or ');
    for (let i = 0; i < alternatives.length; i++) {
      const conditions = intl.split(alternatives[i], ' and '), all = [];
      for (let j = 0; j < conditions.length; j++) {
        const found = p.regexpExec(/^(\w)(?: % (\d+))? (!?=) (.+)$/, conditions[j]), ranges = intl.split(found[4], ',');
        for (let k = 0; k < ranges.length; k++) {
          const at = p.indexOf(ranges[k], '..');
          ranges[k] = at < 0 ? [+ranges[k], +ranges[k]] : [+p.slice(ranges[k], 0, at), +p.slice(ranges[k], at + 2)];
        }
        p.arrayPush(all, { __proto__: null, operand: found[1], modulus: +(found[2] ?? 0), equal: found[3] === '=', ranges });
      }
      p.arrayPush(out, all);
    }
    return out;
  };
  const holds = ({ operand, modulus, equal, ranges }, operands) => {
    const value = modulus === 0 ? operands[operand] : operands[operand] % modulus;
    for (let i = 0; i < ranges.length; i++) if (value >= ranges[i][0] && value <= ranges[i][1] && value % 1 === 0) return equal;
    return !equal;
  };
  const categories = ['zero', 'one', 'two', 'few', 'many'];
  // pluralOf returns the plural category of digits (see intl_number.js) in a locale. The type is 0 for cardinal numbers, 1
  // for ordinal ones.
  intl.pluralOf = (locale, type, { int, frac }) => {
    const rules = (dataOf('plural', locale) ?? dataOf('plural', 'en'))[type], short = p.regexpExec(/^(.*?)0*$/, frac)[1];
    const operands = { __proto__: null, n: +`${int}.${frac}`, i: +int, v: frac.length, w: short.length, f: +frac, t: +short, c: 0, e: 0 };
    for (let i = 0; i < categories.length; i++) {
      const name = categories[i];
      if (rules[name] === undefined) continue;
      if (typeof rules[name] === 'string') rules[name] = read(rules[name]);
      for (let j = 0; j < rules[name].length; j++) {
        let all = true;
        for (let k = 0; k < rules[name][j].length; k++) all = all && holds(rules[name][j][k], operands);
        if (all) return name;
      }
    }
    return 'other';
  };

  // fill returns the parts of a pattern. A control character stands for the parts that values has under it.
  intl.fill = (pattern, values) => {
    const out = [];
    let literal = '';
    for (let i = 0; i <= pattern.length; i++) {
      const list = i === pattern.length ? [] : values[pattern[i]];
      if (list === undefined) {
        literal += pattern[i];
        continue;
      }
      if (literal !== '') p.arrayPush(out, intl.part('literal', literal));
      literal = '';
      for (let j = 0; j < list.length; j++) p.arrayPush(out, list[j]);
    }
    return out;
  };
  return internal;
}
