// Node's messages for failed assertions: the values, or a diff of their lines.
(host, internal) => {
  'use strict';
  const { modules } = internal;
  const titles = {
    deepStrictEqual: 'Expected values to be strictly deep-equal:', strictEqual: 'Expected values to be strictly equal:',
    strictEqualObject: 'Expected "actual" to be reference-equal to "expected":', deepEqual: 'Expected values to be loosely deep-equal:',
    notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:', notStrictEqual: 'Expected "actual" to be strictly unequal to:',
    notStrictEqualObject: 'Expected "actual" not to be reference-equal to "expected":', notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
    notIdentical: 'Values have same structure but are not reference-equal:', notDeepEqualUnequal: 'Expected values not to be loosely deep-equal:',
  };
  const show = (v) => modules.util.inspect(v, { compact: false, customInspect: false, depth: 1000, maxArrayLength: Infinity, showHidden: false, showProxy: false, sorted: true, getters: true });
  const isObject = (v) => typeof v === 'object' && v !== null;
  const maxShort = 12, maxLine = 80, maxPrinted = 50;
  const cutLines = (lines) => lines.length > maxPrinted ? [...lines.slice(0, 46), '...'] : lines;

  // difference formats a diff. Between two differences it keeps up to two common lines before and three after, and marks the
  // omitted ones.
  const difference = (actual, expected, operator, message) => {
    const whole = show(actual), a = whole.split('\n'), b = show(expected).split('\n');
    if (operator === 'strictEqual' && (isObject(actual) && isObject(expected) || typeof actual === 'function' && typeof expected === 'function')) operator = 'strictEqualObject';
    const title = message || titles[operator];
    let indicator = '', same = 0;
    if (a.length === 1 && b.length === 1 && a[0] !== b[0]) {
      const size = a[0].length + b[0].length;
      if (size <= maxShort) {
        if (!isObject(actual) && !isObject(expected) && (actual !== 0 || expected !== 0)) return `${title}\n\n${a[0]} !== ${b[0]}\n`;
      } else if (operator !== 'strictEqualObject' && size < maxLine) {
        let i = 0;
        while (a[0][i] === b[0][i]) i++;
        if (i > 2) indicator = `\n  ${' '.repeat(i)}^`;
        else same = i;
      }
    }
    let end = '', other = '';
    while (a.length > 0 && b.length > 0 && a.at(-1) === b.at(-1)) {
      if (same++ < 3) end = `\n  ${a.at(-1)}${end}`;
      else other = a.at(-1);
      a.pop();
      b.pop();
    }
    const count = Math.max(a.length, b.length);
    if (count === 0) return `${titles.notIdentical}\n\n${cutLines(whole.split('\n')).join('\n')}\n`;
    let skipped = same >= 5;
    if (skipped) end = `\n...${end}`;
    if (other !== '') end = `\n  ${other}${end}`;
    let out = '', held = '', printed = 0, equal = 0;
    const head = `${title}\n+ actual - expected`;
    const catchUp = (lines, i) => {
      if (equal > 4) {
        if (equal === 5) { out += `\n  ${lines[i - 3]}`; printed++; } else { out += '\n...'; skipped = true; }
      }
      if (equal > 3) { out += `\n  ${lines[i - 2]}`; printed++; }
      if (equal > 2) { out += `\n  ${lines[i - 1]}`; printed++; }
      equal = 0;
    };
    for (let i = 0; i < count; i++) {
      if (i >= a.length || i >= b.length) {
        const longer = i >= a.length ? b : a;
        catchUp(longer, i);
        if (longer === a) out += `\n+ ${a[i]}`;
        else held += `\n- ${b[i]}`;
        printed++;
      } else {
        const line = b[i] === `${a[i]},` ? b[i] : a[i];
        if (line !== b[i] && line !== `${b[i]},`) {
          catchUp(a, i);
          out += `\n+ ${line}`;
          held += `\n- ${b[i]}`;
          printed += 2;
        } else {
          out += held;
          held = '';
          if (++equal <= 2) { out += `\n  ${line}`; printed++; }
        }
      }
      if (printed > maxPrinted && i < count - 2) return `${head} ... Lines skipped\n${out}\n...${held}\n...`;
    }
    return `${head}${skipped ? ' ... Lines skipped' : ''}\n${out}${held}${end}${indicator}`;
  };

  // assertMessage returns the message of a failed comparison.
  internal.assertMessage = (actual, expected, operator, message) => {
    if (operator === 'strictEqual' || operator === 'deepStrictEqual') return difference(actual, expected, operator, message);
    if (operator === 'notStrictEqual' || operator === 'notDeepStrictEqual') {
      const lines = cutLines(show(actual).split('\n'));
      const title = titles[operator === 'notStrictEqual' && (isObject(actual) || typeof actual === 'function') ? 'notStrictEqualObject' : operator];
      return lines.length === 1 ? `${title}${lines[0].length > 5 ? '\n\n' : ' '}${lines[0]}` : `${title}\n\n${lines.join('\n')}\n`;
    }
    const cut = (s, n) => s.length > n ? `${s.slice(0, n - 3)}...` : s;
    const one = show(actual), two = show(expected);
    if (operator === 'notDeepEqual' && one === two) return cut(`${titles.notDeepEqual}\n\n${one}`, 1024);
    if (operator === 'deepEqual') return `${titles.deepEqual}\n\n${cut(one, 512)}\n\nshould loosely deep-equal\n\n${cut(two, 512)}`;
    if (operator === 'notDeepEqual') return `${titles.notDeepEqualUnequal}\n\n${cut(one, 512)}\n\nshould not loosely deep-equal\n\n${cut(two, 512)}`;
    return `${cut(one, 512)} ${operator} ${cut(two, 512)}`;
  };
  return internal;
}
